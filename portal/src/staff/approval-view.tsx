// An approval: the changes and their reasons, the estimated effect of shield rules, and the decision, pending or made.
import { Skeleton, Stack, Text } from '@mantine/core'
import { getApprovalRoute, type ApprovalDetails, type ApprovalItem } from '@pharos/contract/operator/approval'
import { neverApproved } from '@pharos/contract/reason/approval-reason'
import { useAnswer } from '../api/queries.ts'
import { Effect } from '../shield/effect.tsx'
import { contentOf } from '../shield/rule-draft.ts'
import { ruleText } from '../shield/rule-text.ts'
import { words as shieldWords } from '../shield/words.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Facts } from '../ui/facts.tsx'
import { Field } from '../ui/form.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { CustomerLink } from './change-view.tsx'
import { decisionProps } from './decision.tsx'
import { Effects } from './effects.tsx'
import { refreshInbox } from './inbox-rows.ts'
import { decideApproval, noteField } from './note.ts'
import { approvalText } from './request-text.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

const { approval: t } = words

export function ApprovalView({ id }: { readonly id: number }) {
  const { data: approval, error, refetch } = useAnswer(getApprovalRoute, { params: { approval_id: id } })
  if (error && !approval) return <Problem error={error} retry={() => refetch()} />
  if (!approval) return <Skeleton height={240} aria-busy />
  const { area, subject, team, detail, created, state, items, items_truncated, item_count, details } =
    approval
  const isOpen = state === 'open'
  return (
    <Stack gap="md">
      <Section
        title={approvalText(approval)}
        actions={
          isOpen && (
            <>
              {!approval.reasons.some(({ reason }) => neverApproved.has(reason)) && (
                <Decide approval={approval} isApproval />
              )}
              <Decide approval={approval} isApproval={false} />
            </>
          )
        }
      >
        <Facts
          facts={[
            [t.subjects[area], subject.name],
            [
              words.change.customer,
              team === null ? words.change.noTeam : <CustomerLink key="team" team={team} />,
            ],
            [words.change.why, detail],
            [words.change.paused, <Time key="at" at={created} />],
            [t.decision, isOpen ? undefined : <Decided key="decision" approval={approval} />],
            [t.note, approval.note ?? undefined],
          ]}
        />
        {isOpen && (
          <Text size="sm" mt="xs">
            {t.meanwhile[area]}
          </Text>
        )}
      </Section>
      {details && <ListDetails details={details} />}
      {items.length > 0 && (
        <Section title={t.changes}>
          <ul className={classes['removals']} data-verbatim>
            {items.map((item, at) => (
              <li key={at}>{itemText(item)}</li>
            ))}
          </ul>
          {items_truncated && (
            <Text size="sm" c="dimmed">
              {t.more(item_count - items.length)}
            </Text>
          )}
        </Section>
      )}
    </Stack>
  )
}

function itemText({ change, value, router, from, to }: ApprovalItem): string {
  const at = router === null ? '' : ` ${t.on(router)}`
  return `${t.verbs[change]} ${value}${at}${from === null ? '' : `: ${from} → ${to}`}`
}

/** The rules that wait, and what they would have dropped: a decision without them is a guess. */
const ListDetails = ({ details }: { readonly details: NonNullable<ApprovalDetails['details']> }) => (
  <>
    <Section title={t.rules}>
      <ol className={classes['waitingRules']}>
        {details.rules.map((rule, at) => (
          <li key={at} data-off={rule.enabled === false || undefined}>
            {ruleText(contentOf(rule))}
          </li>
        ))}
      </ol>
    </Section>
    {details.what_if && (
      <Section title={shieldWords.effect.title}>
        <Effect whatIf={details.what_if} />
      </Section>
    )}
  </>
)

const colors: Record<ApprovalDetails['state'], StateColor> = {
  open: 'warn',
  approved: 'ok',
  rejected: 'bad',
  closed: 'idle',
}

const ApprovalPill = ({ state }: Pick<ApprovalDetails, 'state'>) => (
  <StatePill color={colors[state]}>{t.states[state]}</StatePill>
)

/** `Approved until 14:05, user:7`. */
function Decided({ approval: { state, decided, decided_by, valid_until } }: { approval: ApprovalDetails }) {
  return (
    <>
      <ApprovalPill state={state} /> {decided !== null && <Time at={decided} />}
      {valid_until !== null && (
        <>
          {`, ${t.until} `}
          <Time at={valid_until} />
        </>
      )}
      {decided_by !== null && `, ${decided_by}`}
    </>
  )
}

type DecideProps = { readonly approval: ApprovalDetails; readonly isApproval: boolean }

function Decide({ approval, isApproval }: DecideProps) {
  const { id, area } = approval
  const effect = isApproval ? t.approval[area] : t.rejection[area]
  return (
    <Dialog
      title={isApproval ? t.approveTitle : t.rejectTitle}
      {...decisionProps(isApproval)}
      danger={isApproval}
      {...noteField}
      onSubmit={async (values) => {
        await decideApproval(id, isApproval, values)
        await refreshInbox()
      }}
    >
      {(_fields, form) => (
        <>
          <Effects confirms texts={[`${approvalText(approval)}.`, effect]} />
          <Field form={form} name="note" />
        </>
      )}
    </Dialog>
  )
}
