// On phones, the long tables of a page with several of them are closed until the reader opens them.
if (matchMedia("(max-width: 40em)").matches) {
  for (const table of document.querySelectorAll("details.rows")) table.open = false;
}
