// GoBGP 4.x: written from its published definitions, and tested against a server of our own that follows them. It has
// never spoken with a real 4.x daemon, see docs/decisions/009-gobgp-4.md.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import type { Path } from './codec.ts'
import type { Dialect } from './dialect.ts'
import {
  AddPathStreamRequestSchema,
  GetBgpRequestSchema,
  GoBgpService,
  ListPathRequestSchema,
  TableLookupPrefix_Type,
  TableType,
} from './generated/gobgp4_pb.js'

const { getBgp, listPath, addPathStream } = GoBgpService.method

const tableType = TableType.GLOBAL

export const gobgp4: Dialect = {
  version: '4.x',
  change: addPathStream,
  globalTable: tableType,

  encodeChange: (paths) =>
    toBinary(AddPathStreamRequestSchema, create(AddPathStreamRequestSchema, { tableType, paths })),
  decodeChange: (octets) => fromBinary(AddPathStreamRequestSchema, octets),

  async getGlobal(client, deadline) {
    const { global } = await client.unary(getBgp, create(GetBgpRequestSchema), deadline)
    return global
  },

  async listPaths(client, { family, prefixes }, deadline) {
    const lookups = prefixes.map((prefix) => ({ prefix, type: TableLookupPrefix_Type.EXACT }))
    const request = create(ListPathRequestSchema, {
      tableType,
      family,
      prefixes: lookups,
      enableOnlyBinary: true,
    })
    const paths: Path[] = []
    await client.serverStream(listPath, request, deadline, ({ destination }) => {
      if (destination) paths.push(...destination.paths)
    })
    return paths
  },
}
