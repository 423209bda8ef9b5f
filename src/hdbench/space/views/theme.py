"""The Space's theme: Gradio's own names for the tokens of `hdbench.common.display.marks`."""

import gradio as gr

_NAMES = {
    "paper": ("body_background_fill",),
    "sheet": (
        *("background_fill_primary", "block_background_fill", "block_label_background_fill"),
        *("input_background_fill", "input_background_fill_hover", "table_even_background_fill"),
        *("checkbox_background_color", "checkbox_label_background_fill"),
        *("checkbox_label_background_fill_selected", "button_secondary_background_fill"),
    ),
    "wash": (
        *("background_fill_secondary", "panel_background_fill", "code_background_fill"),
        *("table_odd_background_fill", "color_accent_soft", "checkbox_label_background_fill_hover"),
        "button_secondary_background_fill_hover",
    ),
    "ink": ("body_text_color", "button_secondary_text_color"),
    "quiet": (
        *("body_text_color_subdued", "block_info_text_color", "block_label_text_color"),
        *("block_title_text_color", "input_placeholder_color"),
    ),
    "line": ("border_color_primary", "table_border_color"),
    "edge": (
        *("input_border_color", "checkbox_border_color", "checkbox_border_color_hover"),
        *("button_secondary_border_color", "button_secondary_border_color_hover"),
    ),
    "accent": (
        *("border_color_accent", "input_border_color_focus"),
        *("link_text_color", "link_text_color_active", "link_text_color_hover"),
        *("link_text_color_visited", "button_primary_background_fill"),
        *("button_primary_background_fill_hover", "button_primary_border_color"),
        "button_primary_border_color_hover",
    ),
    "on-accent": ("button_primary_text_color",),
    "bad": ("error_text_color", "error_border_color", "error_icon_color"),
    "bad-wash": ("error_background_fill",),
}
"""Token → the colors of Gradio's that have it, in light and dark."""

_TICKED = "color-mix(in srgb, var(--accent), black 35%)"  # a tick is white, also in the dark


def theme() -> gr.themes.Base:
    """Return the theme."""
    colors = {name: f"var(--{token})" for token, names in _NAMES.items() for name in names}
    colors["checkbox_background_color_selected"] = "var(--accent)"
    dark = colors | {"checkbox_background_color_selected": _TICKED}
    return gr.themes.Default(
        font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
    ).set(
        color_accent="var(--accent)",  # the same in both
        button_border_width="1px",
        **colors,
        **{f"{name}_dark": color for name, color in dark.items()},
    )
