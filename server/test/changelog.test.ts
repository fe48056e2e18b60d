// CHANGELOG.md: every entry begins with its impact, an entry of the kind Action has the command to run, and each release has a
// section in docs/upgrading.md. releases.json agrees with it, with SECURITY.md, the packages and the migrations.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { baseline, listMigrations, migrationsFolder } from '../src/db/migration-file.ts'

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

/** An entry of releases.json, newest first. `migrations` is the number of its files; `supported_until` is null while support goes on. */
type ReleaseEntry = {
  readonly version: string
  readonly date: string
  readonly migrations: number
  readonly supported_until: string | null
}

describe('releases.json', () => {
  const releases = JSON.parse(read('releases.json')) as ReleaseEntry[]
  const minorOf = (version: string) => version.split('.').slice(0, 2).join('.')

  it('has the releases of the changelog, with their dates', () => {
    const dated = [...read('CHANGELOG.md').matchAll(/^## (\S+) \((\d{4}-\d{2}-\d{2})\)$/gm)]
    assert.deepEqual(
      releases.map(({ version, date }) => [version, date]),
      dated.map(([, version, date]) => [version, date]),
    )
  })

  it('has the migrations of each release, the first of which has those without a phase', () => {
    assert.equal(releases.at(-1)!.migrations, baseline)
    const counts = [listMigrations(migrationsFolder).length, ...releases.map(({ migrations }) => migrations)]
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => b - a),
    )
  })

  it('has the version of the packages, unless the changelog has a newer one that is not released', () => {
    const [newest = ''] = read('CHANGELOG.md').match(/(?<=^## )\S+/m) ?? []
    for (const folder of ['', 'bench/', 'contract/', 'demo/', 'lab/', 'portal/', 'server/'])
      assert.equal((JSON.parse(read(`${folder}package.json`)) as { version: string }).version, newest, folder)
  })

  it('has the releases that SECURITY.md supports: those of the two newest minor versions, for six months at least', () => {
    const minors = [...new Set(releases.map(({ version }) => minorOf(version)))].slice(0, 2)
    const supported = releases.filter(({ version }) => minors.includes(minorOf(version)))
    assert.ok(supported.every(({ supported_until: end }) => end === null))
    const rows = [...read('SECURITY.md').matchAll(/^\| (\d\S*) \| (\d{4}-\d{2}-\d{2}) at least \|$/gm)]
    const leastOf = ({ version, date }: ReleaseEntry) => {
      const end = new Date(date)
      end.setUTCMonth(end.getUTCMonth() + 6)
      return [version, end.toISOString().slice(0, 10)]
    }
    assert.deepEqual(
      rows.map(([, version, end]) => [version, end]),
      supported.map(leastOf),
    )
  })
})
