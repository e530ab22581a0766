"""Results of margin machines, votes, ensembles, trees and online rankers."""
