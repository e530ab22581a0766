"""What to cite for a method: the papers behind every class of methods."""

from __future__ import annotations

_LIN = (
    "Lin, H.-T. (2008). From Ordinal Ranking to Binary Classification. PhD thesis, California Institute of Technology."
)
_LI_LIN = (
    "Li, L., & Lin, H.-T. (2007). Ordinal regression by extended binary classification. Advances in Neural Information "
    "Processing Systems 19, 865-872."
)
_LIN_LI = (
    "Lin, H.-T., & Li, L. (2006). Large-margin thresholded ensembles for ordinal regression: Theory and practice. "
    "Algorithmic Learning Theory, LNCS 4264, 319-333."
)
_CHU_KEERTHI = "Chu, W., & Keerthi, S. S. (2007). Support vector ordinal regression. Neural Computation, 19, 792-815."
_TUTZ = (
    "Tutz, G., & Hechenbichler, K. (2003). Aggregating classifiers with ordinal response structure. SFB 386 Discussion "
    "Paper 359, Ludwig-Maximilians-Universitaet Muenchen."
)
_AGRESTI = "Agresti, A. (2010). Analysis of Ordinal Categorical Data (2nd ed.). Wiley."
_CRAMMER = "Crammer, K., & Singer, Y. (2005). Online ranking by projecting. Neural Computation, 17, 145-175."
_MILIDIU = "Milidiu, R. L., & Rocha, R. H. S. (2019). Cumulative sum ranking."
_CARDOSO = (
    "Cardoso, J. S., & da Costa, J. F. P. (2007). Learning to classify ordinal data: The data replication method. "
    "Journal of Machine Learning Research, 8, 1393-1429."
)
_FREUND = (
    "Freund, Y., & Schapire, R. E. (1997). A decision-theoretic generalization of on-line learning and an application "
    "to boosting. Journal of Computer and System Sciences, 55, 119-139."
)
_BREIMAN_BAGGING = "Breiman, L. (1996). Bagging predictors. Machine Learning, 24, 123-140."

_BLENDING = (
    "Wolpert, D. H. (1992). Stacked generalization. Neural Networks, 5, 241-259.",
    "Breiman, L. (1996). Stacked regressions. Machine Learning, 24, 49-64.",
)

#: References by the name of a class of methods.
PAPERS: dict[str, tuple[str, ...]] = {
    "CumulativeLink": (
        "McCullagh, P. (1980). Regression models for ordinal data. Journal of the Royal Statistical Society B, 42, "
        "109-142.",
        _AGRESTI,
        "Christensen, R. H. B. ordinal: Regression Models for Ordinal Data. R package.",
    ),
    "AdjacentCategory": (
        "Goodman, L. A. (1983). The analysis of dependence in cross-classifications having ordered categories, using "
        "log-linear models for frequencies and log-linear models for odds. Biometrics, 39, 149-160.",
        _AGRESTI,
    ),
    "REDSVM": (_LI_LIN, _LIN),
    "SVORIMC": (_CHU_KEERTHI, _LIN),
    "SVOREXC": (_CHU_KEERTHI, _LIN),
    "RankBoundarySVM": (
        "Herbrich, R., Graepel, T., & Obermayer, K. (2000). Large margin rank boundaries for ordinal regression. "
        "Advances in Large Margin Classifiers, 115-132. MIT Press.",
    ),
    "OneVersusAll": (_LIN,),
    "OneVersusOne": (_LIN,),
    "CostTransform": (_LIN,),
    "RankBoost": (_LIN_LI, _LIN),
    "ORBoost": (_LIN_LI, _LIN),
    "AdaBoost": (_FREUND, _LIN),
    "SeedBoost": (_LIN,),
    "AdaBoostOR": (_LIN,),
    "ORStump": (_LIN,),
    "PRank": (_CRAMMER, _MILIDIU),
    "KernelPRank": (_CRAMMER,),
    "CuSumRank": (_MILIDIU,),
    "KernelCuSumRank": (_MILIDIU,),
    "Reduction": (_LI_LIN, _LIN),
    "ThresholdLogisticRegression": (
        "Rennie, J. D. M., & Srebro, N. (2005). Loss functions for preference levels: Regression with discrete ordered "
        "labels. IJCAI Multidisciplinary Workshop on Advances in Preference Handling.",
        _LIN,
    ),
    "OrdinalNetwork": (_CARDOSO, _LIN),
    "OrdinalBoosting": (
        "Friedman, J. H. (2001). Greedy function approximation: A gradient boosting machine. Annals of Statistics, 29, "
        "1189-1232.",
        "Friedman, J. H. (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis, 38, 367-378.",
    ),
    "RPSForest": (
        "Janitza, S., Tutz, G., & Boulesteix, A.-L. (2016). Random forest for ordinal responses: Prediction and "
        "variable selection. Computational Statistics & Data Analysis, 96, 57-73.",
        "Epstein, E. S. (1969). A scoring system for probability forecasts of ranked categories. Journal of Applied "
        "Meteorology, 8, 985-987.",
    ),
    "KernelCumulativeLink": (
        "McCullagh, P. (1980). Regression models for ordinal data. Journal of the Royal Statistical Society B, 42, "
        "109-142.",
        "Chu, W., & Ghahramani, Z. (2005). Gaussian processes for ordinal regression. Journal of Machine Learning "
        "Research, 6, 1019-1041.",
    ),
    "Blend": _BLENDING,
    "Auto": _BLENDING,
    "OrdinalTree": (
        _TUTZ,
        "Breiman, L., Friedman, J. H., Olshen, R. A., & Stone, C. J. (1984). Classification and Regression Trees. "
        "Wadsworth.",
    ),
    "OrdinalBagging": (_TUTZ, _BREIMAN_BAGGING),
    "NominalAdaBoost": (_TUTZ, _FREUND),
    "FixedSplitBoosting": (_TUTZ,),
    "OrdinalAdaBoost": (_TUTZ,),
}
