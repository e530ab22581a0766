"""A file that is not just what `save` wrote is refused, with the reason in words."""

import copy
import hashlib
import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pytest

from files.samples import MEAN, fitted, wine
from ordstat import DataError, OptionError, datasets, load, ordfit
from ordstat.files import container


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a file."""
    path = tmp_path_factory.mktemp("saved") / "fit.ordstat"
    ordfit(MEAN, wine()).save(path)
    return path.read_bytes()


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(entries, sign=True):
    """A zip of (name, bytes), with the checksum that `save` puts at its end."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
        archive.comment = b"sha256:" + b"0" * 64
    return signed(stream.getvalue()) if sign else stream.getvalue()


def signed(content):
    body = content[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


@pytest.fixture
def refuses(tmp_path):
    def check(content, message="cannot be loaded"):
        path = tmp_path / "fit.ordstat"
        path.write_bytes(content)
        with pytest.raises(DataError, match=message) as caught:
            load(path)
        assert str(path) in str(caught.value) and len(str(caught.value)) < 600
        return str(caught.value)

    return check


# Chance


def _flipped(content, rng):
    place = int(rng.integers(len(content)))
    return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]


def _cut(content, rng):
    return content[: int(rng.integers(len(content)))]


def _overwritten(content, rng):
    start, size = int(rng.integers(len(content) - 40)), int(rng.integers(1, 40))
    return content[:start] + rng.bytes(size) + content[start + size :]


def _longer(content, rng):
    return content + rng.bytes(int(rng.integers(1, 100)))


def _swapped(content, rng):
    """Two members exchanged, and zipped again."""
    inside = members(content)
    one, other = rng.choice([name for name in inside if name.startswith("arrays/")], 2, replace=False)
    if inside[one] == inside[other]:
        return content[:-1]
    inside[one], inside[other] = inside[other], inside[one]
    return zipped(inside.items(), sign=False)


def _edited(content, rng):
    """A number of the JSON changed, and zipped again."""
    inside = members(content)
    text = bytearray(inside["fit.json"])
    digits = [i for i, letter in enumerate(text) if chr(letter).isdigit()]
    place = int(rng.choice(digits))
    text[place] = ord("0") + (text[place] - ord("0") + 1) % 10
    return zipped((inside | {"fit.json": bytes(text)}).items(), sign=False)


DAMAGES = [_flipped, _cut, _overwritten, _longer, _swapped, _edited]


@pytest.mark.parametrize("seed", range(10))
def test_damaged_by_chance(seed, saved, refuses):
    """500 damages of six kinds, at any place."""
    rng = np.random.default_rng(seed)
    for i in range(50):
        content = DAMAGES[i % len(DAMAGES)](saved, rng)
        if content != saved:
            refuses(content)


def test_every_truncation_near_the_end(saved, refuses):
    for size in range(len(saved) - 200, len(saved)):
        refuses(saved[:size])


# By hand, with a checksum that is right


def edited(content, change, sign=True):
    """The file after a change of its JSON."""
    inside = members(content)
    tree, header = json.loads(inside["fit.json"]), json.loads(inside["ordstat.json"])
    change(tree, header)
    inside |= {"fit.json": json.dumps(tree).encode(), "ordstat.json": json.dumps(header).encode()}
    return zipped(inside.items(), sign)


def objects(tree, name):
    return [entry["fields"] for entry in tree["objects"] if entry["class"].endswith(name)]


def _first(name, **fields):
    def change(tree, header):
        objects(tree, name)[0].update(fields)

    return change


def _header(**entries):
    return lambda tree, header: header.update(entries)


def _class(name):
    def change(tree, header):
        tree["objects"][0]["class"] = name

    return change


def _root(value):
    return lambda tree, header: tree.update(fit=value)


EDITS = {
    "a later version": (_header(version=2), "version 2, written by ordstat .*; this ordstat reads up to version 1"),
    "no version": (_header(version="1"), "has the version '1', which there is not"),
    "another zip": (_header(format="something"), "zip of something else"),
    "a class of Python": (_class("os.system"), "holds a 'os.system', which this version of ordstat has not"),
    "a class of the package without fields": (_class("design.recipe.Context"), "which this version of ordstat has not"),
    "a module that there is not": (_class("model.nothing.Here"), "which this version of ordstat has not"),
    "a field too many": (_first("sample.Sample", more=1), "its Sample has more beside its own"),
    "a field of another type": (_first("fit.Certificate", value="1"), "value of its Certificate is str"),
    "an array that there is not": (_first("sample.Sample", y={"array": 99999}), "refers to something"),
    "an object that comes later": (_first("sample.Sample", rows={"object": 99999}), "refers to something"),
    "a negative place": (_first("sample.Sample", rows={"object": -1}), "refers to something"),
    "an unknown tag": (_first("sample.Sample", y={"pickle": "x"}), "holds a 'pickle'"),
    "a function of its own": (_first("Results", fitter={"function": "os.system"}), "names the function 'os.system'"),
    "a ufunc of its own": (_first("Results", fitter={"ufunc": "fromiter"}), "names the function 'fromiter'"),
    "a model of its own": (
        _first("Results", fitter={"model": {"class": "Pipeline", "sklearn": "1", "state": {}}}),
        "model of class 'Pipeline'",
    ),
    "an unsafe formula": (_first("recipe.Recipe", safe=False), "its Recipe does not hold together"),
    "a context": (_first("spec.FormulaSpec", context={"dict": []}), "its FormulaSpec does not hold together"),
    "an option outside its range": (_first("clm.CumulativeLink", tol=-1.0), "tol of CumulativeLink must be"),
    "an unknown link": (_root({"link": ["no", None]}), "link must be"),
    "no fit": (_root(3), "what it holds is no fit"),
    "deep lists": (_root(json.loads("[" * 400 + "]" * 400)), "too deep"),
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_by_hand(name, saved, refuses):
    change, message = EDITS[name]
    refuses(edited(saved, change), message)


#: What takes the place of something else.
STRANGE = (None, True, -1, 10**30, 1.5, "x", [], {}, {"tuple": []}, {"dict": [[1]]}, {"float": "x"}, {"object": 0})
STRANGE += (
    {"array": 0},
    {"number": ["|O", 1]},
    {"number": ["<U9", 1]},
    {"series": {}},
    {"time": [1]},
    {"set": [{"dict": []}]},
)
STRANGE += (
    {"index": {"range": [0, 1, 0], "names": [None]}},
    {"frame": {"index": 1}},
    {"partial": [1, [], {}]},
    {"date": 3},
)


def _places(given, into=None):
    """Every place of some JSON, as (container, key)."""
    into = [] if into is None else into
    for key, value in given.items() if isinstance(given, dict) else enumerate(given):
        into.append((given, key))
        if isinstance(value, (dict, list)):
            _places(value, into)
    return into


@pytest.mark.parametrize("seed", range(6))
def test_strange_values_by_chance(seed, saved, tmp_path):
    """With a checksum that is right: refused in words, or a fit."""
    rng, path = np.random.default_rng(seed), tmp_path / "fit.ordstat"
    refused = 0

    def change(tree, header):
        places = _places(tree)
        container, key = places[rng.integers(len(places))]
        container[key] = copy.deepcopy(STRANGE[rng.integers(len(STRANGE))])

    for _ in range(30):
        path.write_bytes(edited(saved, change))
        try:
            load(path)
        except DataError as error:
            refused += "cannot be loaded" in str(error)
    assert refused >= 15


def test_an_edit_that_changes_nothing_is_read(saved, tmp_path):
    """So that the refusals above are of the edits, and not of the zip around them."""
    (tmp_path / "fit.ordstat").write_bytes(edited(saved, lambda tree, header: None))
    assert load(tmp_path / "fit.ordstat").formula == MEAN


def test_missing_fields_have_their_defaults(saved, tmp_path):
    """A later version may have more fields than the file."""
    content = edited(saved, lambda tree, header: objects(tree, "design.Design")[0].pop("notes"))
    (tmp_path / "fit.ordstat").write_bytes(content)
    assert load(tmp_path / "fit.ordstat").design.notes == ()


def test_fields_that_must_be_there(saved, refuses):
    refuses(edited(saved, lambda tree, header: objects(tree, "sample.Sample")[0].pop("y")), "its Sample has not y")


def array_bytes(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def test_codes_beyond_the_levels(saved, refuses):
    """Compiled loops count by codes without a look."""
    inside = members(saved)
    tree = json.loads(inside["fit.json"])
    name = f"arrays/{objects(tree, 'sample.Sample')[0]['y']['array']}.npy"
    y = np.load(io.BytesIO(inside[name]))
    for wrong in (y + 10**6, y - 5, y[:-1], y.astype("i4")):
        refuses(zipped((inside | {name: array_bytes(wrong)}).items()), "its Sample does not hold together")


@pytest.mark.parametrize(("method", "name"), [("cart", "tree.Tree"), ("ordboost", "trees.ValueTree")])
def test_trees_that_lead_astray(method, name, tmp_path, refuses):
    bands = datasets.quadratic_bands(100, seed=1)
    few = {"rounds": 5} if method == "ordboost" else {}
    ordfit("rank ~ x1 + x2", bands, method, **few).save(tmp_path / "fit.ordstat")
    inside = members((tmp_path / "fit.ordstat").read_bytes())
    tree = json.loads(inside["fit.json"])
    entry = objects(tree, name)[0]
    member = f"arrays/{entry['child']['array']}.npy"
    child = np.load(io.BytesIO(inside[member]))
    for lead in (0, child.size, 10**6):
        wrong = np.where(child >= 0, lead, child).astype(child.dtype)
        refuses(zipped((inside | {member: array_bytes(wrong)}).items()), "no tree")
    member = f"arrays/{entry['column']['array']}.npy"
    column = np.load(io.BytesIO(inside[member]))
    wrong = np.where(column >= 0, 10**6, column).astype(column.dtype)
    content = zipped((inside | {member: array_bytes(wrong)}).items())
    if method == "ordboost":
        refuses(content, "its BoostedTrees does not hold together")
    else:  # how many columns its rows have is known when there are some
        (tmp_path / "fit.ordstat").write_bytes(content)
        with pytest.raises(DataError, match="a tree cuts column 1000001"):
            load(tmp_path / "fit.ordstat").predict(bands)


def test_sets_of_categories_that_are_not_there(tmp_path, refuses):
    data = datasets.quadratic_bands(100, seed=1).assign(f=np.tile(list("pqrst"), 20))
    ordfit("rank ~ x1 + f", data, "ordboost", rounds=3, linear_start=False).save(tmp_path / "fit.ordstat")
    inside = members((tmp_path / "fit.ordstat").read_bytes())
    tree = json.loads(inside["fit.json"])
    entry = objects(tree, "trees.ValueTree")[0]
    member = f"arrays/{entry['bin']['array']}.npy"
    bins = np.load(io.BytesIO(inside[member]))
    wrong = np.full_like(bins, -1000)
    refuses(zipped((inside | {member: array_bytes(wrong)}).items()), "its ValueTree does not hold together")


def test_trees_of_scikit_learn_that_lead_astray(tmp_path, refuses):
    fitted("random forest").save(tmp_path / "fit.ordstat")
    inside = members((tmp_path / "fit.ordstat").read_bytes())
    nodes = {name: np.load(io.BytesIO(own)) for name, own in inside.items() if b"left_child" in own[:200]}
    name, array = next(iter(nodes.items()))
    for field, value in (("left_child", 0), ("right_child", 10**6), ("feature", 10**6), ("feature", -3)):
        wrong = copy.deepcopy(array)
        wrong[field][array["left_child"] >= 0] = value
        refuses(zipped((inside | {name: array_bytes(wrong)}).items()), "trees")


def test_models_of_another_scikit_learn(tmp_path, refuses):
    ordfit("rating ~ temp", wine(), "reduction").save(tmp_path / "fit.ordstat")
    content = (tmp_path / "fit.ordstat").read_bytes()
    inside = members(content)
    text = inside["fit.json"].decode()
    import sklearn

    here = ".".join(sklearn.__version__.split(".")[:2])
    other = inside | {"fit.json": text.replace(f'"sklearn":"{here}"', '"sklearn":"0.1"').encode()}
    refuses(zipped(other.items()), "models of scikit-learn 0.1, .* install scikit-learn 0.1, or fit again")


# Zips


def _with(saved, **extra):
    return [*members(saved).items(), *extra.items()]


class Trap:
    """What would run, were it unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was read",))


def test_members_of_others(saved, refuses):
    inside = members(saved)
    refuses(zipped([*inside.items(), ("../evil.py", b"x")]), r"has a member '\.\./evil\.py'")
    refuses(zipped([*inside.items(), ("/etc/passwd", b"x")]), "has a member '/etc/passwd'")
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped([*inside.items(), ("fit.json", inside["fit.json"])])
    refuses(twice, "has some twice|has a member")
    refuses(zipped([item for item in inside.items() if item[0] != "fit.json"]), "member|lacks")
    refuses(zipped([]), "not a file written by fit.save|lacks members|has a member")


def test_arrays_of_objects_are_not_read(saved, refuses):
    trap = array_bytes(np.array([Trap()], dtype=object), allow_pickle=True)
    refuses(zipped((members(saved) | {"arrays/0.npy": trap}).items()), "array of Python objects, which could run code")


def test_arrays_of_another_size(saved, refuses):
    inside, array = members(saved), array_bytes(np.zeros(3))
    for wrong in (
        array.replace(b"(3,)", b"(9,)"),
        array.replace(b"'shape': (3,), }                     ", b"'shape': (99999999999999999999, 9), } "),
        array.replace(b"(3,)", b"(-3,)"),
        array[:-1],
        array + b"x",
        array[:20],
        b"\x93NUMPY\x03\x00" + array[8:],
        array.replace(b"'<f8'", b"'|O'"),
        array.replace(b"{'descr'", b"{{{{{{{{"),
        b"",
    ):
        refuses(zipped((inside | {"arrays/0.npy": wrong}).items()))


def test_bombs(saved, refuses, tmp_path):
    """Sizes are added up before anything is unpacked; a member that lies about its size ends where it said it would."""
    inside = members(saved)
    zeros = zipped((inside | {"arrays/0.npy": bytes(2**22)}).items())
    path = tmp_path / "bomb.ordstat"
    path.write_bytes(zeros)
    with pytest.raises(DataError, match="bytes unpacked, and at most 1,000,000 are read"):
        load(path, max_bytes=10**6)
    with pytest.raises(OptionError, match="max_bytes must be a whole number"):
        load(path, max_bytes=0)
    lying = bytearray(zeros)
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        start = 0
        while (start := lying.find(signature, start)) >= 0:
            if lying[start + offset : start + offset + 4] == struct.pack("<I", 2**22):
                lying[start + offset : start + offset + 4] = struct.pack("<I", 100)
            start += 4
    refuses(signed(bytes(lying)))


def test_too_many_members(saved, refuses, monkeypatch):
    monkeypatch.setattr(container, "MOST_MEMBERS", 10)
    refuses(saved, "members, and at most 10 are read")


def test_json_that_is_none(saved, refuses):
    inside = members(saved)
    for text in (b"", b"{", b"[" * 100_000, b'{"objects": [NaN], "fit": 1}', b"\xff", b"3", b'{"fit": 1}', b"9" * 5000):
        refuses(zipped((inside | {"fit.json": text}).items()))


def test_files_of_others(refuses, tmp_path):
    refuses(b"", "it is empty")
    refuses(b"rating,temp\n1,cold\n", "it is not a file written by fit.save")
    refuses(pickle.dumps(Trap()), "looks like a pickle, which load never opens")
    refuses(zipped([("a", b"b")]), "has a member|lacks members")
    refuses(zipped([("a", b"b")], sign=False)[:-71], "end is not that of a file of fit.save")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        load(tmp_path)
    with pytest.raises(OptionError, match="path must be the name of a file"):
        load(3)
