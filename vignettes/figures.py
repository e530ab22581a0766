"""Draw the pictures of the vignettes into vignettes/figures: `make figures`."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

from ordstat import datasets, ordfit

FOLDER = Path(__file__).parent / "figures"


def main() -> None:
    """The pictures of wine.md, less than 60 kB each."""
    wine = datasets.load("wine")
    plot = ordfit("rating ~ temp + contact", data=wine).plot
    pictures = {
        "parallel": plot.parallel(),
        "profiles": plot.profiles()[0],
        "effects": plot.marginal_effects("temp").frame,
        "latent": plot.latent(),
    }
    FOLDER.mkdir(exist_ok=True)
    for name, ax in pictures.items():
        ax.get_figure().savefig(FOLDER / f"{name}.png", dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
