import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { checkPlatform } from '../../server/src/platform/engine/check.ts'
import { parseYaml } from '../../server/src/platform/engine/document.ts'
import { platformKinds } from '../../server/src/platform/kinds/index.ts'
import { labDnsPorts, labKey } from './dns-network.ts'
import { labRegions } from './regions.ts'

it('ships a platform file without problems, with the routers and name servers that the lab starts', async () => {
  const text = await readFile(new URL('../platform.yaml', import.meta.url), 'utf8')
  const document = parseYaml('platform.yaml', text)
  const nothing = { rows: new Map(), removed: new Set<string>() }
  const { desired, problems } = checkPlatform(platformKinds, document, nothing, { prune: false })
  assert.deepEqual(problems, [])
  const regions = desired.entries.filter((entry) => entry.kind === 'region')
  assert.deepEqual(
    regions.map(({ key, fields }) => {
      const { speakers } = fields as { speakers: readonly { address?: unknown }[] }
      return [key, speakers[0]?.address]
    }),
    labRegions.map(({ name, subnet }) => [name, `${subnet}.1:50051`]),
  )
  const servers = desired.entries.filter((entry) => entry.kind === 'name_server')
  const { NSD, BIND, Knot } = labDnsPorts
  assert.deepEqual(
    servers.map(({ fields: { address, port, tsig_key: key } }) => [address, port, key]),
    [NSD, BIND, Knot].map((port) => ['127.0.0.1', port, labKey.name]),
  )
})
