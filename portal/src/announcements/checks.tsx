// The three checks that clear an announcement, at a glance.
import { Group } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'
import { Hint } from '../ui/hint.tsx'
import { Mark } from '../ui/status.tsx'

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
          <Hint key={name} label={() => `${meaning}: ${passed ? 'passed' : 'not passed'}`}>
            <span role="img" aria-label={`${label} ${passed ? 'passed' : 'not passed'}`}>
              <Mark color={passed ? 'teal' : 'orange'}>
                {label} {passed ? '✓' : '✗'}
              </Mark>
            </span>
          </Hint>
        )
      })}
    </Group>
  )
}
