// The driver of Linux hosts that filter packets with nftables: this host, a network namespace, or a host over ssh.
import { Type, type Static } from 'typebox'
import type { ScrubberDriver } from '../../shield/scrubber-driver.ts'
import { callMsMax } from '../driver/scrubber-lists.ts'
import { settingsCheck } from '../driver/setting-problems.ts'
import { NftablesScrubber } from './scrubber.ts'
import { hooks } from './table.ts'

const Settings = Type.Object(
  {
    kind: Type.Literal('nftables'),
    command: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500, pattern: '^[^\\u0000-\\u001f\\u007f]+$' }), {
        minItems: 1,
        maxItems: 32,
      }),
    ),
    table: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9_]{0,30}$' })),
    hook: Type.Optional(Type.Enum([...hooks])),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: callMsMax })),
  },
  { additionalProperties: false },
)

type NftablesSettings = Static<typeof Settings>

const defaults = { command: ['nft'], table: 'pharos_shield', hook: 'forward', timeoutMs: 10_000 } as const

export const nftables: ScrubberDriver = {
  kind: 'nftables',
  settings: Settings,
  check: settingsCheck(Settings, 'the scrubber'),
  ownerOf(settings) {
    const { command = defaults.command, table = defaults.table } = settings as unknown as NftablesSettings
    return `${JSON.stringify(command)} ${table}`
  },
  create(settings, { rulesMax }) {
    const { command, table, hook, timeout_ms } = settings as unknown as NftablesSettings
    return new NftablesScrubber({
      command: command ?? defaults.command,
      table: table ?? defaults.table,
      hook: hook ?? defaults.hook,
      timeoutMs: Math.min(timeout_ms ?? defaults.timeoutMs, callMsMax),
      rulesMax,
    })
  },
}
