// Runs docs/byoip-walkthrough.md and docs/dns-walkthrough.md in the lab.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { freePort } from './address.ts'
import { demoObjects, demoVrps } from './demo-registry.ts'
import { labDnsPorts, labZone, startDnsNetwork, type DnsNetwork } from './dns-network.ts'
import { DnsProber } from './dns-prober.ts'
import { writeLabPlatform } from './lab-platform.ts'
import { createLab } from './network.ts'
import { Pharos } from './pharos.ts'
import { skipWithout } from './program.ts'
import { startRegistries } from './registries.ts'
import { runWalkthrough } from './testing-walkthrough.ts'

describe(
  'the walkthrough of BYOIP',
  { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc', 'stayrtr', 'curl') },
  () => {
    it('works as documented', async () => {
      await using lab = await createLab({ regions: ['ams', 'fra'], deferralSeconds: 3 })
      await using registries = await startRegistries({
        folder: lab.folder,
        vrps: demoVrps,
        objects: demoObjects,
      })
      const port = await freePort()
      const platformFile = await writeLabPlatform(lab.folder, { lab })
      await using pharos = new Pharos({
        folder: lab.folder,
        platformFile,
        port,
        settings: registries.settings,
      })
      await pharos.start()
      await pharos.apply()
      await runWalkthrough({ file: 'docs/byoip-walkthrough.md', env: { LAB: lab.folder, url: pharos.url } })
    })
  },
)

describe(
  'the walkthrough of DNS',
  { skip: skipWithout('nsd', 'named', 'knotd', 'knotc', 'unbound', 'dig', 'curl', 'jq') },
  () => {
    it('works as documented, and no resolver fails from the first signature to the last', async () => {
      await using stack = new AsyncDisposableStack()
      const folder = await mkdtemp(join(tmpdir(), 'pharos-lab-'))
      if (process.env['PHAROS_LAB_KEEP'] !== '1')
        stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
      const dns = stack.use(await startDnsNetwork({ folder }))
      const platformFile = await writeLabPlatform(folder, { dns })
      const port = await freePort()
      const settings = { ...dns.settings, PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true' }
      const pharos = stack.use(new Pharos({ folder, platformFile, port, settings }))
      await pharos.start()
      await pharos.apply()
      let prober: DnsProber | undefined
      stack.defer(() => prober?.[Symbol.asyncDispose]())
      await runWalkthrough({
        file: 'docs/dns-walkthrough.md',
        env: { LAB: folder, url: pharos.url },
        rewrite: (code) => withPorts(code, dns),
        onSection(title) {
          if (title === 'Sign it') prober = new DnsProber(dns.ports.resolver, labZone)
          if (title !== 'Delete it') return
          const { answers, failures, validated } = prober!.counts
          assert.equal(failures, 0)
          assert.ok(validated > 100 && answers > validated, `${validated} of ${answers} validated`)
        },
      })
    })
  },
)

function withPorts(code: string, { ports }: DnsNetwork): string {
  const own = new Map(
    Object.entries(labDnsPorts).map(([name, port]) => [port, ports[name as keyof typeof ports]]),
  )
  return code.replace(/\b(?:8053|530\d)\b/g, (text) => String(own.get(Number(text))))
}
