// The three checks that clear an announcement, at a glance.
import { Badge, Group, Tooltip } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'

const names = [
  ['irr', 'IRR', 'route object in a routing registry'],
  ['rpki', 'RPKI', 'route origin authorization (ROA)'],
  ['loa', 'LOA', 'letter of authorization'],
] as const

export function Checks({ announcement }: { announcement: Announcement }) {
  return (
    <Group gap={4} wrap="nowrap">
      {names.map(([name, label, meaning]) => {
        const passed = announcement[`${name}_validated`] !== null
        return (
          <Tooltip key={name} label={`${meaning}: ${passed ? 'passed' : 'not passed'}`}>
            <Badge
              color={passed ? 'teal' : 'orange'}
              size="sm"
              aria-label={`${label} ${passed ? 'passed' : 'not passed'}`}
            >
              {label} {passed ? '✓' : '✗'}
            </Badge>
          </Tooltip>
        )
      })}
    </Group>
  )
}
