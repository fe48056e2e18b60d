// The three checks that an announcement needs, as badges.
import { Group } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { LazyTooltip } from '../ui/lazy-tooltip.tsx'
import { StatePill } from '../ui/status.tsx'
import { words } from './words.ts'

const { badges: texts } = words

const names = [
  ['irr', 'IRR', texts.irr],
  ['rpki', 'RPKI', texts.rpki],
  ['loa', 'LOA', texts.loa],
] as const

export function CheckBadges({ announcement }: { announcement: Announcement }) {
  return (
    <Group gap={4} wrap="nowrap">
      {names.map(([name, label, meaning]) => {
        const passed = announcement[`${name}_validated`] !== null
        return (
          <LazyTooltip key={name} label={() => `${meaning}: ${passed ? texts.passed : texts.notPassed}`}>
            <span role="img" aria-label={`${label} ${passed ? texts.passed : texts.notPassed}`}>
              <StatePill color={passed ? 'ok' : 'warn'}>
                {label} {passed ? '✓' : '✗'}
              </StatePill>
            </span>
          </LazyTooltip>
        )
      })}
    </Group>
  )
}
