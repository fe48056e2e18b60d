// The changelog as a page for clients and users. Pure.

/** Headings of sections that only operators of an installation need. They read the file. */
const forOperators: ReadonlySet<string> = new Set(['Operators'])

/** Returns the Markdown of the page: the releases of CHANGELOG.md without the sections for operators. */
export function changelogOf(text: string): string {
  const [, ...releases] = text.split(/^(?=## )/m)
  const shown = releases.map((release) => {
    const [head = '', ...sections] = release.split(/^(?=### )/m)
    return [head, ...sections.filter((section) => !forOperators.has(titleOf(section)))].join('')
  })
  return ['# Changelog\n\n', introduction, ...shown].join('')
}

const titleOf = (section: string): string => /^### (.*)$/m.exec(section)![1]!

const introduction = `By release, newest first: what changed for clients of the API and users of the portal. **Breaking** changes what clients rely on,
**Security** closes a hole, **New** adds, **Fixed** repairs. [Versioning](versioning.md) says what changes without a new version.

`
