// GoBGP 3.x: the dialect of Debian's package, and the one that all tests speak with a real daemon.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import type { Path } from './codec.ts'
import type { Dialect } from './dialect.ts'
import {
  AddPathStreamRequestSchema,
  GetBgpRequestSchema,
  GobgpApi,
  ListPathRequestSchema,
} from './generated/gobgp_pb.js'

const { getBgp, listPath, addPathStream } = GobgpApi.method

export const gobgp3: Dialect = {
  version: '3.x',
  change: addPathStream,
  globalTable: undefined,

  encodeChange: (paths) =>
    toBinary(AddPathStreamRequestSchema, create(AddPathStreamRequestSchema, { paths })),
  decodeChange: (octets) => fromBinary(AddPathStreamRequestSchema, octets),

  async getGlobal(client, deadline) {
    const { global } = await client.unary(getBgp, create(GetBgpRequestSchema), deadline)
    return global
  },

  async listPaths(client, { family, prefixes }, deadline) {
    const lookups = prefixes.map((prefix) => ({ prefix }))
    const request = create(ListPathRequestSchema, { family, prefixes: lookups, enableOnlyBinary: true })
    const paths: Path[] = []
    await client.serverStream(listPath, request, deadline, ({ destination }) => {
      if (destination) paths.push(...destination.paths)
    })
    return paths
  },
}
