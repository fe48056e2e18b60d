// The choice of the current team, for users who are in several.
import { Select } from '@mantine/core'
import type { TeamSummary } from '@pharos/contract/session'
import { session } from '../api/session.ts'
import { notifyProblem } from '../ui/notify.ts'

export const TeamSwitch = ({ current, teams }: { current: TeamSummary; teams: readonly TeamSummary[] }) => (
  <Select
    size="xs"
    w={{ base: 130, sm: 180 }}
    aria-label="Team"
    data={teams.map(({ id, name }) => ({ value: String(id), label: name }))}
    value={String(current.id)}
    allowDeselect={false}
    searchable={teams.length > 10}
    onChange={(id) => id !== null && void session.switchTeam(Number(id)).catch(notifyProblem)}
  />
)
