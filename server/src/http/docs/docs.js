// The search field of the documentation: shows the links of the navigation that contain every word.
const search = document.getElementById('search')
const nothing = document.getElementById('nothing-found')
const sections = [...document.querySelectorAll('nav details')]
const opened = sections.map((section) => section.open)

search.hidden = false
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  let found = 0
  sections.forEach((section, at) => {
    let shown = 0
    for (const item of section.querySelectorAll('li')) {
      const text = item.firstElementChild.dataset.words
      item.hidden = !words.every((word) => text.includes(word))
      if (!item.hidden) shown += 1
    }
    section.hidden = shown === 0
    section.open = words.length > 0 || opened[at]
    found += shown
  })
  nothing.hidden = found > 0
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input')) return
  event.preventDefault()
  search.focus()
})
