// The pages of docs/operating match the settings, metrics and commands of the code, and the index names every page.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { TObject } from 'typebox'
import { commands } from '../src/commands/index.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { problemLinesOf } from '../src/platform/samples.ts'
import { acceptedValuesOf, meaningOf, settingNames, variableOf } from '../src/runtime/settings.ts'

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')
const pages = readdirSync(new URL('../../docs/operating/', import.meta.url)).filter((name) =>
  name.endsWith('.md'),
)

function settingsTable(): string {
  const rows = settingNames.map((name) => {
    const { description, byDefault } = meaningOf(name)
    const shown =
      byDefault === null || (Array.isArray(byDefault) && byDefault.length === 0) ? '' : defaultOf(byDefault)
    return `| \`${name}\` | \`${variableOf(name)}\` | ${shown} | ${acceptedValuesOf(name)} | ${description} |`
  })
  return ['| Setting | Variable | Default | Value | Meaning |', '|---|---|---|---|---|', ...rows].join('\n')
}

const defaultOf = (value: unknown) => `\`${Array.isArray(value) ? value.join(',') : String(value)}\``

test('the table of settings is that of the schema', () => {
  const table = /^\| Setting (?:.*\n)+?(?!\|)/m.exec(read('operating/settings.md'))?.[0].trimEnd()
  assert.equal(table, settingsTable(), `the table should be\n${settingsTable()}`)
})

test('the table of metrics contains every metric, and no others', async () => {
  const { registry } = createMetrics()
  const names = (await registry.getMetricsAsJSON()).map(({ name }) => name).toSorted()
  const written = [...read('operating/metrics.md').matchAll(/^\| `(pharos_[a-z_]+)/gm)].map(
    ([, name]) => name!,
  )
  assert.deepEqual(written.toSorted(), names)
})

test('the table of metrics marks those of the installation as their help does', async () => {
  const { registry } = createMetrics()
  const marked = [...read('operating/metrics.md').matchAll(/^\| `(pharos_[a-z_]+)` \| installation: /gm)].map(
    ([, name]) => name!,
  )
  const known = (await registry.getMetricsAsJSON()).filter(({ help }) => help.startsWith('Installation:'))
  assert.deepEqual(marked.toSorted(), known.map(({ name }) => name).toSorted())
})

test('every command is mentioned, and every mentioned command exists', () => {
  const text = [...pages.map((name) => `operating/${name}`), 'platform-file.md'].map(read).join('\n')
  const mentioned = new Set([...text.matchAll(/`pharos ([a-z-]+)/g)].map(([, name]) => name!))
  const names = commands.map(({ name }) => name)
  assert.deepEqual([...mentioned].filter((name) => !names.includes(name) && name !== 'help').toSorted(), [])
  assert.deepEqual(
    names.filter((name) => !mentioned.has(name)),
    [],
  )
})

test('the example of a platform file is valid', () => {
  const [, yaml] = /```yaml\n([^]*?)```/.exec(read('platform-file.md'))!
  assert.deepEqual(problemLinesOf(yaml!), [])
})

test('every field of the platform file is in its example', () => {
  const [, yaml] = /```yaml\n([^]*?)```/.exec(read('platform-file.md'))!
  for (const { section, element } of platformKinds.kinds) {
    if (!element) continue
    for (const field of Object.keys((element as TObject).properties)) {
      if (['username', 'display_name', 'avatar_url', 'demo'].includes(field)) continue
      assert.match(yaml!, new RegExp(`\\b${field}:`), `${section}: ${field}`)
    }
  }
})

test('the index names every page', () => {
  const index = read('operating/README.md')
  assert.deepEqual(
    pages.filter((name) => name !== 'README.md' && !index.includes(`](${name})`)),
    [],
  )
})
