// On phones, the long tables of a page with several of them are closed until the reader opens them.
if (matchMedia("(max-width: 40em)").matches) {
  for (const table of document.querySelectorAll("details.rows")) table.open = false;
}

// The search page has its own field, because narrow pages hide the sidebar with the other one.
const results = document.getElementById("search-results");
if (results) {
  const words = new URLSearchParams(location.search).get("q") ?? "";
  const form = document.createElement("form");
  form.className = "page-search";
  form.innerHTML = '<label>Search the documentation <input type="search" name="q"></label>';
  form.querySelector("input").value = words;
  results.before(form);
}
