//! What happened: values over time, tables of trials, workers, the life of a trial, all studies at a glance.
