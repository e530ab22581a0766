"""Pictures of a fit, by matplotlib, and the frames behind them: `fit.plot`."""
