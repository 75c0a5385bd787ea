//! Widgets: `&App` to cells. Drawing never mutates and never blocks; knows no terminal library but ratatui.
