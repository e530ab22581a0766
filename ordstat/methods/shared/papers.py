"""What to cite for a method: papers that several have in common; those of one method stand with it."""

from __future__ import annotations

LIN = (
    "Lin, H.-T. (2008). From Ordinal Ranking to Binary Classification. PhD thesis, California Institute of Technology."
)
LI_LIN = (
    "Li, L., & Lin, H.-T. (2007). Ordinal regression by extended binary classification. Advances in Neural Information "
    "Processing Systems 19, 865-872."
)
LIN_LI = (
    "Lin, H.-T., & Li, L. (2006). Large-margin thresholded ensembles for ordinal regression: Theory and practice. "
    "Algorithmic Learning Theory, LNCS 4264, 319-333."
)
CHU_KEERTHI = "Chu, W., & Keerthi, S. S. (2007). Support vector ordinal regression. Neural Computation, 19, 792-815."
TUTZ = (
    "Tutz, G., & Hechenbichler, K. (2003). Aggregating classifiers with ordinal response structure. SFB 386 Discussion "
    "Paper 359, Ludwig-Maximilians-Universitaet Muenchen."
)
AGRESTI = "Agresti, A. (2010). Analysis of Ordinal Categorical Data (2nd ed.). Wiley."
CRAMMER = "Crammer, K., & Singer, Y. (2005). Online ranking by projecting. Neural Computation, 17, 145-175."
MILIDIU = "Milidiu, R. L., & Rocha, R. H. S. (2019). Cumulative sum ranking."
FREUND = (
    "Freund, Y., & Schapire, R. E. (1997). A decision-theoretic generalization of on-line learning and an application "
    "to boosting. Journal of Computer and System Sciences, 55, 119-139."
)
