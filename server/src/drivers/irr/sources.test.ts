import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { freePort } from '@pharos/lab/address'
import { IrrServer } from '@pharos/lab/irr-server'
import { irrSourceConformance, type IrrSourceFixture } from '../../registry/irr-source.conformance.ts'
import { createDumpSource } from './dump-source.ts'
import { createWhoisSource } from './whois-source.ts'

irrSourceConformance('of a whois server', whoisFixture)
irrSourceConformance('of a dump', () => dumpFixture('dump.rpsl', (text) => text))
irrSourceConformance('of a compressed dump', () => dumpFixture('dump.rpsl.gz', gzipSync))

const sources = ['FIRST', 'SECOND', 'RIPE']

async function whoisFixture(): Promise<IrrSourceFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'irr-'))
  const address = { host: '127.0.0.1', port: await freePort() }
  const server = new IrrServer({
    file: join(folder, 'registry.rpsl'),
    address: address.host,
    port: address.port,
    sources,
  })
  await server.start()
  const source = createWhoisSource({ ...address, sources })
  const nobody = { host: '127.0.0.1', port: await freePort() }
  const absent = { source: createWhoisSource({ ...nobody, timeoutMs: 500 }), timeoutMs: 500 }
  return {
    source,
    connect: () => createWhoisSource({ ...address, sources }),
    absent,
    setObjects: (objects) => server.setObjects(objects),
    stop: async () => {
      await Promise.all([source.close(), absent.source.close(), server.stop()])
      await rm(folder, { recursive: true })
    },
  }
}

async function dumpFixture(
  name: string,
  pack: (text: string) => string | Uint8Array,
): Promise<IrrSourceFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'irr-'))
  const file = join(folder, name)
  const times = { pollMs: 20, settleMs: 0, confirmMs: 0 }
  const source = createDumpSource({ file, sources, ...times })
  const absent = {
    source: createDumpSource({ file: join(folder, 'nothing'), timeoutMs: 500, ...times }),
    timeoutMs: 500,
  }
  return {
    source,
    connect: () => createDumpSource({ file, sources, ...times }),
    absent,
    setObjects: async (objects) => {
      const other = `mntner: MAINT-A\nsource: FIRST`
      await writeFile(`${file}.new`, pack(`% A dump.\n\n${[other, ...objects].join('\n\n')}\n`))
      await rename(`${file}.new`, file)
    },
    stop: async () => {
      await Promise.all([source.close(), absent.source.close()])
      await rm(folder, { recursive: true })
    },
  }
}
