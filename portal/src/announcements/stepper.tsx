// The way of an announcement in four steps, each with one line that is true now.
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { listAnnouncementHistoryRoute } from '@pharos/contract/byoip/announcement'
import { useAnswer } from '../api/queries.ts'
import { StepList, type Step } from '../ui/step-list.tsx'
import { actorName } from './history-text.ts'
import { stepsOf } from './steps.ts'
import { useMemberNames } from './use-member-names.ts'
import { words } from './words.ts'

const { steps: texts } = words

export function Stepper({ announcement }: { announcement: Announcement }) {
  const suffix = useCreator(announcement.id)
  const added: Step = { name: texts.added, state: 'done', text: '', at: announcement.created, suffix }
  return <StepList label={texts.label} steps={[added, ...stepsOf(announcement)]} />
}

/** Returns `by Dana Demo`; undefined if the history does not have it. */
function useCreator(id: number): string | undefined {
  const query = { kind: ['created' as const], ordering: 'id' as const, limit: 1 }
  const entries = useAnswer(listAnnouncementHistoryRoute, { params: { announcement_id: id }, query })
  const names = useMemberNames()
  const actor = entries.data?.results[0]?.actor
  return actor === undefined ? undefined : texts.by(actorName(actor, names))
}
