// Replaces the pages of a team that staff have not entered, or whose access has ended.
import { Button, Group } from '@mantine/core'
import type { User } from '@pharos/contract/session/session'
import { session } from '../api/session.ts'
import { Empty } from '../ui/empty.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { askToEnter } from './enter-team.tsx'
import { words } from './words.ts'

const { enter: t } = words

export function ReasonRequired({ user: { current_team: team, teams } }: { user: User }) {
  const [own] = teams
  return (
    <Page title={team.name}>
      <Empty title={t.ended}>
        {t.endedText}
        <Group justify="center" mt="md">
          <Button onClick={() => void askToEnter({ id: team.id, name: team.name })}>{t.open}</Button>
          {own && (
            <Button variant="default" onClick={() => void session.switchTeam(own.id).catch(notifyProblem)}>
              {t.back(own.name)}
            </Button>
          )}
        </Group>
      </Empty>
    </Page>
  )
}
