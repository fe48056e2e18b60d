// The three checks that an announcement needs, as badges.
import { Group } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'
import { LazyTooltip } from '../ui/lazy-tooltip.tsx'
import { StatePill } from '../ui/status.tsx'

const names = [
  ['irr', 'IRR', 'route object in a routing registry'],
  ['rpki', 'RPKI', 'route origin authorization (ROA)'],
  ['loa', 'LOA', 'letter of authorization'],
] as const

export function CheckBadges({ announcement }: { announcement: Announcement }) {
  return (
    <Group gap={4} wrap="nowrap">
      {names.map(([name, label, meaning]) => {
        const passed = announcement[`${name}_validated`] !== null
        return (
          <LazyTooltip key={name} label={() => `${meaning}: ${passed ? 'passed' : 'not passed'}`}>
            <span role="img" aria-label={`${label} ${passed ? 'passed' : 'not passed'}`}>
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
