// CHANGELOG.md: every entry begins with its impact, an entry of the kind Action has the command to run, and each release has a
// section in docs/upgrading.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const command = /`(?:pharos|curl|psql|systemctl|apt-get|npm) [^`]+`/
const impact = /^- \*\*(?:Breaking|Action|Security|New|Fixed)\*\* \S/

/** Returns what is wrong with a changelog. */
function faultsOf(text: string): string[] {
  const [, ...sections] = text.split(/^## /m)
  return sections.flatMap((section) => {
    const [title = '', ...lines] = section.split('\n')
    const entries = lines
      .join('\n')
      .split(/^(?=- )/m)
      .slice(1)
    return [
      ...(/^\d+\.\d+\.\d+(?:-rc\.\d+)? \((?:unreleased|\d{4}-\d{2}-\d{2})\)$/.test(title)
        ? []
        : [`title: ${title}`]),
      ...entries.filter((entry) => !impact.test(entry)).map((entry) => `impact: ${entry.slice(0, 60)}`),
      ...entries
        .filter((entry) => entry.startsWith('- **Action**') && !command.test(entry))
        .map((entry) => `command: ${entry.slice(0, 60)}`),
    ]
  })
}

describe('the changelog', () => {
  it('has releases, and entries with their impact', () => {
    const text = read('CHANGELOG.md')
    assert.deepEqual(faultsOf(text), [])
    assert.ok(text.match(/^- \*\*/gm)!.length > 20)
  })

  it('has a section in docs/upgrading.md for each release', () => {
    const releases = [...read('CHANGELOG.md').matchAll(/^## (\S+)/gm)].map(([, release]) => release)
    const sections = [...read('docs/upgrading.md').matchAll(/^## (\S+)/gm)].map(([, release]) => release)
    assert.deepEqual(sections, releases)
  })

  it('is found faulty without an impact, a command or a date', () => {
    const text =
      '# Changelog\n\n## 0.3.0 (soon)\n\n- **Action** Change it.\n- A feature.\n- **Action** `pharos migrate`.\n'
    assert.deepEqual(faultsOf(text), [
      'title: 0.3.0 (soon)',
      'impact: - A feature.\n',
      'command: - **Action** Change it.\n',
    ])
  })
})
