"""A file that is not just what `save` wrote is refused with the reason, and never runs
anything.
"""

import io
import json
import os
import pickle
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from expected import refused, unreadable
from saved_fits import MEAN, fitted, wine

from ordstat import DataError, ElasticNet, datasets, load, ordfit, persistence


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(entries):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return stream.getvalue()


def edited(content, change):
    """The file after a change of its document."""
    inside = members(content)
    tree = json.loads(inside["fit.json"])
    change(tree)
    return zipped((inside | {"fit.json": json.dumps(tree).encode()}).items())


def array_bytes(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def first(tree, name):
    return next(
        entry["fields"]
        for entry in tree["objects"]
        if entry["class"].endswith(f".{name}")
    )


def saved_bytes(fit, folder):
    fit.save(folder / "fit.ordstat")
    return (folder / "fit.ordstat").read_bytes()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a file."""
    return saved_bytes(ordfit(MEAN, wine()), tmp_path_factory.mktemp("saved"))


@pytest.fixture
def refuses(tmp_path):
    def check(content, message="cannot be loaded"):
        path = tmp_path / "forged.ordstat"
        path.write_bytes(content)
        with pytest.raises(DataError, match=message) as caught:
            load(path)
        assert str(path) in str(caught.value)

    return check


# By chance


def _flip(content, rng):
    place = int(rng.integers(len(content)))
    return (
        content[:place]
        + bytes([content[place] ^ (1 << int(rng.integers(8)))])
        + content[place + 1 :]
    )


def _overwrite(content, rng):
    start = int(rng.integers(len(content) - 40))
    size = int(rng.integers(1, 40))
    return content[:start] + rng.bytes(size) + content[start + size :]


STRANGE = [
    None,
    True,
    -1,
    10**30,
    1.5,
    "x",
    [],
    {},
    {"tuple": []},
    {"dict": [1]},
    {"float": ["x"]},
    {"object": 0},
]
STRANGE += [
    {"array": 0},
    {"scalar": ["|O", "00"]},
    {"series": []},
    {"time": [1]},
    {"partial": [1, [], {}]},
]
STRANGE += [{"range": [0, 1, 0, None, False, None]}, {"function": ["os.system"]}]


def _places(given):
    """Every place of some JSON, as (container, key)."""
    for key, value in given.items() if isinstance(given, dict) else enumerate(given):
        yield given, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def _strange(content, rng):
    """Another value somewhere in the document."""

    def change(tree):
        places = [*_places(tree)]
        container, key = places[rng.integers(len(places))]
        container[key] = STRANGE[rng.integers(len(STRANGE))]

    return edited(content, change)


def _array(content, rng):
    """Other numbers, or another size, in an array."""
    inside = members(content)
    name = rng.choice([name for name in inside if name != "fit.json"])
    array = np.load(io.BytesIO(inside[name]))
    high, low = ((array.astype(float) + by).astype(array.dtype) for by in (100, -20))
    wrong = [
        array[:-1],
        np.repeat(array, 2, axis=0),
        high,
        low,
        array.astype("f4"),
        array[..., None],
    ]
    return zipped(
        (inside | {name: array_bytes(wrong[rng.integers(len(wrong))])}).items()
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "damage",
    [_flip, _overwrite, lambda c, rng: c[: rng.integers(len(c))], _strange, _array],
)
@pytest.mark.parametrize(
    "feature", ["nominal", "random slope", "trees", "monotone", "prank"]
)
def test_damages_are_refused_or_harmless(damage, feature, tmp_path):
    """With checksums that are right: no crash, no hang; a fit that is read predicts, or
    says why it does not.
    """
    rng = np.random.default_rng(len(feature))
    fit = ordfit(MEAN, wine(), "prank") if feature == "prank" else fitted(feature)
    content = saved_bytes(fit, tmp_path)
    refused = 0
    for _ in range(15):
        (tmp_path / "fit.ordstat").write_bytes(damage(content, rng))
        try:
            again = load(tmp_path / "fit.ordstat")
        except DataError as error:
            assert "cannot be " in str(error)
            refused += 1
            continue
        try:
            again.predict(wine()), str(again.summary("all"))
        except Exception as error:
            assert str(error)
    assert refused >= 2


# By hand


def _fields(name, **fields):
    return lambda tree: first(tree, name).update(fields)


def _model(**state):
    import sklearn

    version = ".".join(sklearn.__version__.split(".")[:2])
    return {
        "model": [
            "LogisticRegression",
            version,
            {"dict": [part for pair in state.items() for part in pair]},
        ]
    }


EDITS = {
    "a later version": (
        lambda tree: tree.update(version=2),
        "version 2, written by ordstat .*; this ordstat reads",
    ),
    "another zip": (
        lambda tree: tree.update(format="something"),
        "zip of something other",
    ),
    "a class of Python": (
        lambda tree: tree["objects"][0].update({"class": "Popen"}),
        "has no class 'Popen'",
    ),
    "a class without fields": (
        lambda tree: tree["objects"][0].update({"class": "Context"}),
        "no class 'Context'",
    ),
    "a field too many": (
        _fields("Sample", more=1),
        "no class '.*Sample' with the fields .*more",
    ),
    "a field too few": (
        lambda tree: first(tree, "Sample").pop("y"),
        "no class '.*Sample' with the fields",
    ),
    "an array that is not there": (
        _fields("Sample", y={"array": 99999}),
        "cannot be loaded",
    ),
    "a later object": (_fields("Sample", rows={"object": 99999}), "cannot be loaded"),
    "a negative place": (
        _fields("Sample", rows={"object": -1}),
        "refers to the object -1",
    ),
    "an unknown tag": (_fields("Sample", y={"pickle": "x"}), "'pickle'"),
    "a function of Python": (
        _fields("LikelihoodResults", fitter={"function": ["os.system"]}),
        "'os.system'",
    ),
    "a model of another class": (
        _fields("Design", spec={"model": ["Pipeline", "1", {"dict": []}]}),
        "scikit-learn 1,",
    ),
    "an option out of range": (
        _fields("CumulativeLink", tol=-1.0),
        "tol of CumulativeLink must be",
    ),
    "an unknown link": (
        lambda tree: tree.update(fit={"link": ["no", None]}),
        "link must be",
    ),
    "no fit": (lambda tree: tree.update(fit=3), "something other than a fit"),
    "a model as recipe": (
        _fields("Design", recipe=_model(safe=False)),
        "attribute 'safe' that the class does not have",
    ),
    "a model with a method": (
        _fields("Design", spec=_model(predict=3)),
        "attribute 'predict' that the class",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_by_hand(name, saved, refuses):
    change, message = EDITS[name]
    refuses(edited(saved, change), message)


def test_an_edit_that_changes_nothing_is_read(saved, tmp_path):
    """So that the refusals above are of the edits, and not of the zip around them."""
    (tmp_path / "fit.ordstat").write_bytes(edited(saved, lambda tree: None))
    assert load(tmp_path / "fit.ordstat").formula == MEAN


def _lead_astray(array):
    """Children and columns of the nodes of a tree that point elsewhere."""
    if array.dtype.names:
        for name, value in (
            ("left_child", 0),
            ("right_child", 10**6),
            ("feature", 10**6),
            ("feature", -3),
        ):
            wrong = array.copy()
            wrong[name][array["left_child"] >= 0] = value
            yield wrong
    else:
        for value in (0, array.size, 10**6):
            yield np.where(array >= 0, value, array).astype(array.dtype)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("cart", "Tree"),
        ("ordboost", "ValueTree"),
        ("rps-forest", "ForestShares"),
        ("nominal-classifier", "scikit-learn's tree"),
    ],
)
def test_trees_that_lead_astray(method, name, tmp_path, refuses):
    few = {
        "ordboost": {"rounds": 3},
        "rps-forest": {"trees": 2},
        "nominal-classifier": {"base": "forest"},
    }.get(method, {})
    fit = ordfit("rank ~ x1 + x2", datasets.quadratic_bands(100, seed=1), method, **few)
    inside = members(saved_bytes(fit, tmp_path))
    if method == "nominal-classifier":
        member = next(
            member
            for member, content in inside.items()
            if b"left_child" in content[:200]
        )
    else:
        fields = first(json.loads(inside["fit.json"]), name)
        child = fields["children" if name == "ForestShares" else "child"]
        member = f"{child['array']}.npy"
    for wrong in _lead_astray(np.load(io.BytesIO(inside[member]))):
        refuses(zipped((inside | {member: array_bytes(wrong)}).items()), "not a tree")


def test_models_of_another_scikit_learn(tmp_path, refuses):
    inside = members(
        saved_bytes(ordfit("rating ~ temp", wine(), "reduction"), tmp_path)
    )
    text = re.sub(
        rb'\["LogisticRegression","[\d.]+"',
        b'["LogisticRegression","0.1"',
        inside["fit.json"],
    )
    refuses(
        zipped((inside | {"fit.json": text}).items()),
        "scikit-learn 0.1, not .* Install 0.1, or fit again",
    )


# Zips


class Trap:
    """What would run, were it unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was read",))


def test_other_members_and_arrays(saved, refuses):
    inside = members(saved)
    array = array_bytes(np.zeros(3))
    refuses(
        zipped([*inside.items(), ("../evil.py", b"x")]),
        "members are not those of a fit",
    )
    refuses(
        zipped([item for item in inside.items() if item[0] != "fit.json"]),
        "members are not those of a fit",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refuses(
            zipped([*inside.items(), ("fit.json", inside["fit.json"])]),
            "members are not those of a fit",
        )
    huge = array.replace(
        b"'shape': (3,), }                     ",
        b"'shape': (99999999999999999999, 9), } ",
    )
    trap = array_bytes(np.array([Trap()], dtype=object), allow_pickle=True)
    for wrong in (
        array.replace(b"(3,)", b"(9,)"),
        array.replace(b"(3,)", b"(-3,)"),
        huge,
        array[:20],
        trap,
        b"",
    ):
        refuses(zipped((inside | {"0.npy": wrong}).items()))


def test_bombs(saved, refuses, tmp_path):
    """Sizes are added up before anything is unpacked."""
    inside = members(saved)
    (tmp_path / "fit.ordstat").write_bytes(
        zipped((inside | {"0.npy": bytes(2**22)}).items())
    )
    with pytest.raises(
        DataError, match="bytes unpacked, and at most 1,000,000 are read"
    ):
        load(tmp_path / "fit.ordstat", max_bytes=10**6)
    with refused("max_bytes"):
        load(tmp_path / "fit.ordstat", max_bytes=0)
    refuses(
        zipped((inside | {"fit.json": b" " * (2**26 + 1)}).items()),
        "more than 67,108,864 bytes",
    )
    refuses(
        zipped((inside | {"fit.json": b"[" + b"[]," * (2**21) + b"3]"}).items()),
        "more than 4,000,000 values",
    )
    for text in (
        b"",
        b"{",
        b"[" * 100_000,
        b'{"objects": [NaN], "fit": 1}',
        b"\xff",
        b"3",
        b"9" * 5000,
    ):
        refuses(zipped((inside | {"fit.json": text}).items()))


def test_files_of_others(saved, refuses, tmp_path):
    for content in (
        b"",
        b"rating,temp\n1,cold\n",
        pickle.dumps(Trap()),
        zipped([("a", b"b")]),
    ):
        refuses(content, "not a file that fit.save|members are not")
    place = saved.rindex(b"PK\x01\x02") + 6
    refuses(saved[:place] + b"\xff\x00" + saved[place + 2 :], "zip file version 25.5")
    with unreadable("", "Is a directory"):
        load(tmp_path)
    with refused("path"):
        load(3)


# Small files that would take for ever, or all memory


def _shared(tree, levels, inside):
    """`levels` objects, each of which has the one before it twice, and what refers to
    the last one.
    """
    base = next(
        i
        for i, entry in enumerate(tree["objects"])
        if entry["class"].endswith("Factor")
    )
    entry = tree["objects"][base]
    first_place = len(tree["objects"])
    for level in range(levels):
        place = base if level == 0 else first_place + level - 1
        twice = {"tuple": [{"object": place}, {"object": place}]}
        tree["objects"].append(
            {"class": entry["class"], "fields": entry["fields"] | {"levels": twice}}
        )
    last = {"object": len(tree["objects"]) - 1}
    tree["objects"].append(
        {"class": entry["class"], "fields": entry["fields"] | {"levels": inside(last)}}
    )


@pytest.mark.parametrize(
    "levels, inside, message",
    [
        (40, lambda last: {"tuple": [last]}, "parts, or are nested"),
        (40, lambda last: {"dict": [last, 1]}, "parts, or are nested"),
        (12, lambda last: {"dict": [{"tuple": [last]}, 1]}, "a key of more than"),
        (12, lambda last: {"frozenset": [last]}, "a key of more than"),
    ],
)
def test_shared_references_are_counted_before_they_are_followed(
    levels, inside, message, saved, refuses
):
    refuses(edited(saved, lambda tree: _shared(tree, levels, inside)), message)


def test_depth_is_bounded(saved, refuses):
    def deep(tree):
        value = 1
        for _ in range(400):
            value = {"tuple": [value]}
        tree["objects"][0]["fields"][next(iter(tree["objects"][0]["fields"]))] = value

    refuses(edited(saved, deep), "nested 80. deep")


@pytest.mark.parametrize("kind", ["categorical", "index", "levels"])
def test_ranges_are_counted_before_they_are_written_out(kind, saved, refuses):
    numbers = {"range": [0, 300_000_000, 1, None, False, None]}
    value = {
        "categorical": [{"array": 0}, numbers, False],
        "index": [numbers, None],
        "levels": [["a"], numbers],
    }[kind]

    def long(tree):
        first(tree, "Design")["index"] = {kind: value}

    refuses(edited(saved, long), "ranges have 300,000,0.. numbers")


def test_only_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        with unreadable("", "(Is a directory|it is a pipe or a device)"):
            load(path)


def test_a_path_of_when_files_held_its_duality_gaps(tmp_path):
    fit = ordfit("rating ~ temp + contact", wine(), penalty=ElasticNet())

    def as_before(tree):
        first(tree, "Path")["gap"] = None

    path = tmp_path / "old.ordstat"
    path.write_bytes(edited(saved_bytes(fit, tmp_path), as_before))
    old = load(path).path
    assert old["gap"].notna().any()
    pd.testing.assert_frame_equal(old, fit.path)


def test_a_file_of_before_a_class_moved_or_got_or_lost_a_field(tmp_path):
    data = wine()
    fit = ordfit(MEAN, data)

    before = {present: name for name, present in persistence._MOVED.items()}
    renamed = []

    def as_before(tree):
        first(tree, "Design")["checksum"] = 123456789
        del first(tree, "Levels")["open_ends"]
        for entry in tree["objects"]:
            names = persistence._RENAMED.get(entry["class"], {})
            renamed.extend(set(names.values()) & set(entry["fields"]))
            entry["fields"] = {
                {present: name for name, present in names.items()}.get(field, field): v
                for field, v in entry["fields"].items()
            }
            entry["class"] = before.get(entry["class"], entry["class"])

    path = tmp_path / "old.ordstat"
    path.write_bytes(edited(saved_bytes(fit, tmp_path), as_before))
    old = load(path, data=data)
    assert renamed
    assert old.update("~ . + x").params.equals(fit.update("~ . + x").params)
