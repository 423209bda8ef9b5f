import "../pagefind/pagefind-component-ui.js";

// A word as short as "TEI" is meant as a whole; a longer one may be the beginning of another.
const search = window.PagefindComponents.getInstanceManager().getInstance("default");
const triggerSearch = search.triggerSearch.bind(search);
search.triggerSearch = (term) => triggerSearch(term.trim().length <= 3 ? `"${term.trim()}"` : term);
