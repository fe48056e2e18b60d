// The team's review of an event: acknowledged or not, an attack or a false positive, and comments. It is visible to this team only.
import { Button, Group, SegmentedControl, Text } from '@mantine/core'
import {
  getRelatedEventRoute,
  reviewEventRoute,
  type EventReview,
  type RelatedEventDetail,
} from '@pharos/contract/events/event'
import { getIncidentRoute, listIncidentsRoute } from '@pharos/contract/events/incident'
import type { BodyOf } from '@pharos/contract/route'
import { useMutation } from '@tanstack/react-query'
import { actorName } from '../announcements/history-text.ts'
import { useMemberNames } from '../announcements/use-member-names.ts'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { Field, Form, useRequestForm, type RequestForm } from '../ui/form.tsx'
import { textarea } from '../ui/form-widgets.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import classes from './events.module.css'
import { words } from './words.ts'

const { review: texts } = words

type Change = BodyOf<typeof reviewEventRoute>

async function change(ids: readonly string[], body: Change): Promise<void> {
  for (const id of ids) await call(reviewEventRoute, { params: { event_id: id }, body })
  await invalidate(getRelatedEventRoute, getIncidentRoute, listIncidentsRoute)
}

/** A review applies to all events of the attack, `eventIds`; a comment belongs to the event of the page. */
type Props = {
  readonly event: RelatedEventDetail
  readonly eventIds: readonly string[]
  readonly review: EventReview
}

export function EventReviewCard({ event: { id }, eventIds, review }: Props) {
  const { verdict, acknowledged, acknowledged_by: by, comments } = review
  const names = useMemberNames()
  const canReview = useGrant('events.review')
  const save = useMutation({ mutationFn: (body: Change) => change(eventIds, body), onError: notifyProblem })
  return (
    <Section title={texts.title}>
      <Group gap="xs" mb="sm">
        <SegmentedControl
          size="xs"
          aria-label={texts.verdict}
          disabled={!canReview || save.isPending}
          value={verdict ?? 'none'}
          data={Object.entries(texts.verdicts).map(([value, label]) => ({ value, label }))}
          onChange={(next) => save.mutate({ verdict: next === 'none' ? null : (next as 'attack') })}
        />
        {canReview && (
          <Button
            size="xs"
            variant="default"
            loading={save.isPending && save.variables.acknowledged !== undefined}
            onClick={() => save.mutate({ acknowledged: acknowledged === null })}
          >
            {acknowledged === null ? texts.acknowledge : texts.unacknowledge}
          </Button>
        )}
      </Group>
      {acknowledged !== null && (
        <Text size="xs" c="dimmed">
          {by === null ? texts.acknowledged : texts.acknowledgedBy(actorName(by, names))}{' '}
          <Time at={acknowledged} />
        </Text>
      )}
      {verdict === 'false_positive' && (
        <Text size="xs" c="dimmed">
          {texts.falsePositive}
        </Text>
      )}
      {comments.length > 0 && (
        <ul className={classes['comments']} aria-label={texts.comments}>
          {comments.map(({ id: key, text, author, created }) => (
            <li key={key}>
              <div className={classes['commentHead']}>
                <strong>{actorName(author, names)}</strong> <Time at={created} />
              </div>
              <div className={classes['comment']}>{text}</div>
            </li>
          ))}
        </ul>
      )}
      {canReview ? (
        <AddComment id={id} />
      ) : (
        <Text size="xs" c="dimmed">
          {onlyWith('events.review')}
        </Text>
      )}
    </Section>
  )
}

const declared = {
  comment: textarea({ label: texts.comment, placeholder: texts.placeholder, required: true }),
}

function AddComment({ id }: { readonly id: string }) {
  const form: RequestForm<{ comment: string }, void> = useRequestForm({
    initialValues: { comment: '' },
    route: reviewEventRoute,
    declared,
    request: (values) => change([id], values),
    onSuccess: () => form.restart({ comment: '' }),
  })
  return (
    <Form form={form} action={texts.add} gap="xs" size="xs">
      <Field form={form} name="comment" />
    </Form>
  )
}
