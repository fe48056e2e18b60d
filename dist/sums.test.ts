import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { isInstalled } from './program.ts'
import { signSums, writeSums } from './sums.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-sums-'))
after(() => rmSync(folder, { recursive: true }))

it('sha256sum accepts the sums, and finds a changed file', async () => {
  writeFileSync(join(folder, 'b.tar'), 'two')
  writeFileSync(join(folder, 'a.tar'), 'one')
  await writeSums(folder, ['b.tar', 'a.tar'])
  const check = () =>
    spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' })
  assert.deepEqual([check().status, check().stdout], [0, 'a.tar: OK\nb.tar: OK\n'])
  appendFileSync(join(folder, 'a.tar'), 'x')
  assert.equal(check().status, 1)
})

const skip = ['gpg', 'gpgv'].every(isInstalled) ? false : 'gpg and gpgv are not installed'

it('gpgv accepts the signature of the named key only', { skip }, async () => {
  const home = join(folder, 'gnupg')
  mkdirSync(home, { mode: 0o700 })
  process.env['GNUPGHOME'] = home
  after(() => spawnSync('gpgconf', ['--kill', 'gpg-agent'], { env: { ...process.env, GNUPGHOME: home } }))
  const gpg = (...args: string[]) => execFileSync('gpg', ['--batch', '--quiet', ...args], { stdio: 'pipe' })
  for (const name of ['release', 'other'])
    gpg('--passphrase', '', '--quick-generate-key', `${name}@pharos.example`, 'ed25519', 'sign', 'never')
  writeFileSync(join(folder, 'keyring.gpg'), gpg('--export', 'release@pharos.example'))
  await writeSums(folder, ['b.tar'])
  const verify = (suffix: string) =>
    spawnSync('gpgv', ['--keyring', join(folder, 'keyring.gpg'), `SHA256SUMS${suffix}`, 'SHA256SUMS'], {
      cwd: folder,
    }).status
  signSums(folder, 'release@pharos.example')
  assert.deepEqual([verify('.sig'), verify('.asc')], [0, 0])
  signSums(folder, 'other@pharos.example')
  assert.notEqual(verify('.sig'), 0)
  signSums(folder, 'release@pharos.example')
  appendFileSync(join(folder, 'SHA256SUMS'), 'x')
  assert.notEqual(verify('.sig'), 0)
})
