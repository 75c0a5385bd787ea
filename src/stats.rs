//! Folds settled rounds into rolling counters and quantiles. Time comes in with each round; knows no clock,
//! no terminal and no runtime.
