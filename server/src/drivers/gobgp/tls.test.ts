import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { ServerCredentials } from '@grpc/grpc-js'
import { skipWithout } from '@pharos/lab/program'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { createGobgpSpeaker, type GobgpSpeakerConfig } from './speaker.ts'
import { startFakeGobgpd } from './testing.ts'

const skip = skipWithout('openssl')

it(
  'uses TLS with a client certificate, and only if it can verify the certificate of the server',
  { skip },
  async (t) => {
    const [own, other] = [authority(t, 'IP:127.0.0.1,DNS:localhost'), authority(t, 'IP:127.0.0.1')]
    const pairs = [{ cert_chain: Buffer.from(own.cert), private_key: Buffer.from(own.key) }]
    const credentials = ServerCredentials.createSsl(Buffer.from(own.ca), pairs, true)
    const fake = await startFakeGobgpd({ credentials })
    t.after(fake.stop)
    const announce = async (tls: GobgpSpeakerConfig['tls'], timeoutMs = 2_000): Promise<void> => {
      const speaker = createGobgpSpeaker({ address: fake.address, owner: '64500:1:1', tls, timeoutMs })
      try {
        await speaker.announce([route])
      } finally {
        await speaker.close()
      }
    }
    await announce(own, 60_000)
    assert.equal(fake.changes.length, 1)
    const bad: GobgpSpeakerConfig['tls'][] = [
      { ca: own.ca },
      { ...own, ca: other.ca },
      { ...other, ca: own.ca },
      undefined,
    ]
    for (const tls of bad)
      await assert.rejects(
        announce(tls),
        (error) => error instanceof DriverError && error.kind === 'unreachable',
      )
    assert.equal(fake.changes.length, 1)
  },
)

const route = {
  prefix: parsePrefix('192.0.2.0/24'),
  asPath: [],
  nextHop: '0.0.0.0',
  communities: [],
  largeCommunities: [],
}

/** A self-signed certificate, created for this run. */
function authority(t: TestContext, names: string): { ca: string; cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-tls-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=lab', '-addext', `subjectAltName=${names}`, '-days', '1', '-nodes']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', keyFile, '-out', certFile], {
    stdio: 'ignore',
  })
  const cert = readFileSync(certFile, 'utf8')
  return { ca: cert, cert, key: readFileSync(keyFile, 'utf8') }
}
