"""Pages: one self-contained HTML file each, from templates, scripts and styles of this package."""
