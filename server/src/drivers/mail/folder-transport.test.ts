import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isKind, sample } from '../../mail/mail-transport.conformance.ts'
import { createFolderTransport } from './folder-transport.ts'

function folderFor(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'mails-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  return join(root, 'mails')
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

test('other users can neither read nor list the mails', async (t) => {
  const folder = folderFor(t)
  const file = await createFolderTransport(folder).send(sample())
  assert.deepEqual([modeOf(folder), modeOf(file)], ['700', '600'])
})

test('no mail is written to a folder that other users can list', async (t) => {
  const folder = folderFor(t)
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  await assert.rejects(createFolderTransport(folder).send(sample()), (error: Error) => {
    assert.match(error.message, /mode 755.*chmod 700/)
    return isKind('unreachable')(error)
  })
  assert.deepEqual(readdirSync(folder), [])
})

test('mails are sorted by time, and a repeated mail replaces the first', async (t) => {
  const folder = folderFor(t)
  const transport = createFolderTransport(folder)
  const later = sample({ id: 'a', date: new Date('2026-02-01T00:00:00Z') })
  await Promise.all([later, sample(), later, sample()].map((message) => transport.send(message)))
  assert.deepEqual(readdirSync(folder), [
    '2026-01-31T12-00-00Z-mail-1.example.eml',
    '2026-02-01T00-00-00Z-a.eml',
  ])
})

test('no incomplete mail remains if writing fails', async (t) => {
  const folder = folderFor(t)
  mkdirSync(join(folder, '2026-01-31T12-00-00Z-mail-1.example.eml'), { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  await assert.rejects(createFolderTransport(folder).send(sample()), isKind('unreachable'))
  assert.equal(readdirSync(folder).length, 1)
})

test('other files in the folder are not changed', async (t) => {
  const folder = folderFor(t)
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(join(folder, 'note'), 'mine')
  await createFolderTransport(folder).send(sample())
  assert.equal(readFileSync(join(folder, 'note'), 'utf8'), 'mine')
})
