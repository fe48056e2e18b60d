// The rules of one prefix: an ordered list that is edited as a draft, with its estimated effect in the last hour, and applied as
// a whole after a review.
import { Button, Group, Skeleton, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { simulateShieldRoute, type ShieldList, type ShieldRule } from '@pharos/contract/shield/shield'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import { answerOverLastOf } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { useNewerVersion } from '../ui/newer-version.tsx'
import { Columns, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { whenIdle } from '../ui/idle.ts'
import { placeholderProps } from '../ui/placeholder.ts'
import { Effect, Warnings } from './effect.tsx'
import { ListStatePill } from './list-state.tsx'
import { listReasonText } from './reason-text.ts'
import { Review } from './review.tsx'
import {
  draftOf,
  emptyContent,
  moved,
  planOf,
  requestOf,
  versionOf,
  withRule,
  type DraftRule,
} from './rule-draft.ts'
import { RuleForm } from './rule-form.tsx'
import { RuleTable } from './rule-table.tsx'
import { useHitRates } from './use-hit-rates.ts'
import { useRules } from './use-lists.ts'
import classes from './shield.module.css'
import { words } from './words.ts'

const { editor: texts } = words

/** Loaded with the charts once the browser is idle. */
const ListTraffic = lazy(async () => {
  await whenIdle()
  return { default: (await import('./list-traffic.tsx')).ListTraffic }
})

export function ShieldRules() {
  const { search } = usePageSearch('/shield/rules')
  const prefix = search.prefix === undefined ? '' : String(search.prefix)
  const { rules, receivedMs, list, error, retry } = useRules(prefix)
  if (prefix === '')
    return (
      <Page title={words.lists.title}>
        <Empty title={texts.missing}>
          {texts.missingText}{' '}
          <ButtonLink variant="default" to="/shield">
            {texts.allLists}
          </ButtonLink>
        </Empty>
      </Page>
    )
  if (rules === undefined || list === undefined)
    return (
      <Page title={prefix} mono>
        {error ? <Problem error={error} retry={retry} /> : <Skeleton height={240} aria-busy />}
      </Page>
    )
  return <Editor key={prefix} {...{ prefix, rules, receivedMs, list, error, retry }} />
}

type EditorProps = {
  readonly prefix: string
  readonly rules: readonly ShieldRule[]
  readonly receivedMs: number
  readonly list: ShieldList | null
  readonly error: unknown
  readonly retry: () => unknown
}

/** The applied list that the draft started from. */
type Base = { readonly version: number; readonly rules: readonly DraftRule[] }

const keyOf = ({ id }: ShieldRule) => String(id)
const draftsOf = (rules: readonly ShieldRule[]): readonly DraftRule[] =>
  rules.map((rule) => draftOf(rule, keyOf(rule)))

function Editor({ prefix, rules, receivedMs, list, error, retry }: EditorProps) {
  const canChange = useGrant('shield.apply')
  const version = versionOf(rules, list)
  const [base, setBase] = useState<Base>(() => ({ version, rules: draftsOf(rules) }))
  const [draft, setDraft] = useState<readonly DraftRule[]>(base.rules)
  /** The key of the rule in the form; a key that is not in the draft is a new rule. */
  const [edited, setEdited] = useState<string>()
  const [isReviewed, setReviewed] = useState(false)
  const plan = useMemo(() => planOf(base.rules, draft), [base, draft])
  const isChanged = plan.count > 0
  const newer = useNewerVersion({
    isNewer: base.version !== version,
    // An open form is saved to the rule that it was opened for.
    isEdited: isChanged || edited !== undefined,
    load: () => rebase(version, rules),
  })
  function rebase(to: number, list: readonly ShieldRule[]) {
    const next = draftsOf(list)
    setBase({ version: to, rules: next })
    setDraft(next)
  }
  const applied = useMemo(() => new Map(rules.map((rule) => [keyOf(rule), rule])), [rules])
  const rates = useHitRates(rules, receivedMs)
  const { effect, isCurrent } = useEffectOf(prefix, draft)
  const change = (at: number, next: (rule: DraftRule) => DraftRule[]) =>
    setDraft(draft.toSpliced(at, 1, ...next(draft[at]!)))
  const add = () => setEdited(newKey())
  const opened = draft.find(({ key }) => key === edited)
  return (
    <Page
      wide
      title={prefix}
      mono
      state={<ListStatePill list={list} count={rules.length} />}
      note={list?.status_reason ? listReasonText(list.status_reason) : texts.note(list?.version ?? 0)}
      actions={
        <>
          <ButtonLink variant="default" to="/shield">
            {texts.allLists}
          </ButtonLink>
          {canChange && draft.length > 0 && (
            <Button data-action="add-rule" leftSection={<IconPlus size={14} />} onClick={add}>
              {texts.add}
            </Button>
          )}
        </>
      }
    >
      <UnsavedGuard isUnsaved={() => isChanged} />
      {error !== null && error !== undefined && <Problem error={error} retry={retry} />}
      {newer}
      {!canChange && (
        <Text size="sm" c="dimmed">
          {onlyWith('shield.apply')}
        </Text>
      )}
      <Columns rail={<EffectOfDraft isEmpty={draft.length === 0} effect={effect} isCurrent={isCurrent} />}>
        <Section title={texts.title} flush>
          {draft.length === 0 ? (
            <Empty title={texts.empty}>
              {texts.emptyText}
              {canChange && (
                <Group justify="center" mt="md">
                  <Button data-action="add-rule" leftSection={<IconPlus size={14} />} onClick={add}>
                    {texts.addFirst}
                  </Button>
                </Group>
              )}
            </Empty>
          ) : (
            <RuleTable
              rules={draft}
              plan={plan}
              applied={applied}
              rates={rates}
              whatIf={isCurrent ? effect.data?.what_if : undefined}
              warnings={isCurrent ? (effect.data?.warnings ?? []) : []}
              canChange={canChange}
              onMove={(from, to) => setDraft(moved(draft, from, to))}
              onEdit={(at) => setEdited(draft[at]!.key)}
              onDuplicate={(at) => change(at, (rule) => [rule, { ...rule, key: newKey() }])}
              onToggle={(at) => change(at, (rule) => [{ ...rule, enabled: !rule.enabled }])}
              onRemove={(at) => change(at, () => [])}
            />
          )}
        </Section>
        {isChanged && (
          <div className={classes['bar']} role="region" aria-label={texts.review}>
            <Text size="sm" fw={500}>
              {texts.unsaved(plan.count)}
            </Text>
            <Group gap="xs" ml="auto">
              <Button variant="default" onClick={() => setDraft(base.rules)}>
                {texts.discard}
              </Button>
              <Button onClick={() => setReviewed(true)}>{texts.review}</Button>
            </Group>
          </div>
        )}
        <Suspense fallback={<Skeleton height={330} radius="lg" />}>
          <ListTraffic prefix={prefix} rules={rules} />
        </Suspense>
      </Columns>
      {edited !== undefined && (
        <RuleForm
          prefix={prefix}
          rule={opened ?? emptyContent}
          isNew={opened === undefined}
          onSave={(content) => {
            setDraft(withRule(draft, { ...content, key: edited }))
            setEdited(undefined)
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
      {isReviewed && (
        <Review
          prefix={prefix}
          version={base.version}
          before={base.rules}
          after={draft}
          onClose={() => setReviewed(false)}
          onApplied={(answer) => {
            rebase(answer.version, answer.results)
            setReviewed(false)
          }}
        />
      )}
    </Page>
  )
}

type EffectOfDraftProps = ReturnType<typeof useEffectOf> & { readonly isEmpty: boolean }

const EffectOfDraft = ({ isEmpty, effect, isCurrent }: EffectOfDraftProps) => (
  <>
    <Section title={words.effect.title}>
      {isEmpty ? (
        <Text size="sm" c="dimmed">
          {texts.emptyText}
        </Text>
      ) : effect.data ? (
        <div {...placeholderProps(!isCurrent)}>
          <Effect whatIf={effect.data.what_if} />
        </div>
      ) : effect.error ? (
        <Problem error={effect.error} retry={() => effect.refetch()} />
      ) : (
        <Skeleton height={100} />
      )}
    </Section>
    {effect.data && isCurrent && <Warnings warnings={effect.data.warnings} />}
  </>
)

let keys = 0
const newKey = () => `new-${++keys}`

/** Requests the effect of the draft shortly after a change. */
function useEffectOf(prefix: string, draft: readonly DraftRule[]) {
  const rules = useMemo(() => requestOf(draft), [draft])
  const [settled] = useDebouncedValue(rules, 400)
  const effect = useQuery({
    ...answerOverLastOf(simulateShieldRoute, { body: { prefix, rules: settled } }),
    enabled: settled.length > 0,
    refetchInterval: 60_000,
  })
  return { effect, isCurrent: settled === rules && !effect.isPlaceholderData }
}
