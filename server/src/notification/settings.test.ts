// The kinds in docs/notifications.md, and whether each is mailed by default, are those of the server.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { settingsOf } from './settings.ts'

const text = readFileSync(new URL('../../../docs/notifications.md', import.meta.url), 'utf8')

it('docs/notifications.md has every kind of notification, and whether it is mailed by default', () => {
  const documented = [...text.matchAll(/^\| `(\w+)` \| .* \| (yes|no)\b.*\|$/gm)].map(([, kind, mail]) => [
    kind,
    mail === 'yes',
  ])
  assert.deepEqual(documented.toSorted(), Object.entries(settingsOf(undefined).kinds).toSorted())
})
