//! What the model knows: maps, importance, trust, remaining regret, why a point was chosen, candidates on a plane.
