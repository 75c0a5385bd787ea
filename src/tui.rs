//! The terminal: guard, keymap, run loop. The only room that knows crossterm.
