// Rules that would stop an attack: the matched share of the attack and of normal traffic, and applying them with a timer. Also the
// active rules for the target, with their current rates.
import { Button, Skeleton, Text } from '@mantine/core'
import { listShieldListsRoute, listShieldRulesRoute, type ShieldRule } from '@pharos/contract/shield/shield'
import { suggestShieldRulesRoute, type ShieldSuggestions } from '@pharos/contract/shield/suggestion'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState, type ReactNode } from 'react'
import { answerOf, useAnswer } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { formatRate } from '../ui/rate.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Delay, Warnings } from './effect.tsx'
import { Review } from './review.tsx'
import { contentOf, draftOf, isSame, type DraftRule } from './rule-draft.ts'
import { ruleText } from './rule-text.ts'
import { largestShare, shareText, sharesText, type Shares } from './share-text.ts'
import { useHitRates } from './use-hit-rates.ts'
import { useRules } from './use-lists.ts'
import classes from './shield.module.css'
import { words } from './words.ts'

const { suggest: texts } = words
const rulesMax = 1000

/** The content of the step "Drop the attack" on the page of an event; its title reports the state of the data. */
export function Suggestions({
  eventId,
  isOngoing,
}: {
  readonly eventId: string
  readonly isOngoing: boolean
}) {
  const answer = useQuery({
    ...answerOf(suggestShieldRulesRoute, { params: { event_id: eventId }, body: {} }),
    // The first flows of an attack arrive after the page is opened.
    refetchInterval: ({ state }) => isOngoing && (state.data?.suggestions.length === 0 ? 5_000 : 30_000),
    staleTime: 5_000,
  })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={72} aria-busy />
  const { prefix, suggestions, source } = answer.data
  if (prefix === null) return <Text size="sm">{texts.noPrefix}</Text>
  if (suggestions.length === 0)
    return (
      <>
        <Text size="sm">{source === 'none' ? texts.noFlows(isOngoing) : texts.none}</Text>
        <Covered share={answer.data.in_place_share} />
      </>
    )
  return <Suggested answer={answer.data} prefix={prefix} />
}

/** The covered and the remaining share of the attack; empty if the team's rules cover no part of it. */
function Covered({ share }: { readonly share: number | null }) {
  if (share === 0) return null
  return (
    <Text size="sm">
      {share === null ? texts.coveredUnknown : texts.covered(shareText(share), shareText(1 - share))}
    </Text>
  )
}

type SuggestedProps = { readonly answer: ShieldSuggestions; readonly prefix: string }

/** Suggestions that are already active appear in the list of active rules only. */
function Suggested({ answer, prefix }: SuggestedProps) {
  const canChange = useGrant('shield.apply')
  const [isOpen, setOpen] = useState(false)
  const { suggestions, attack_shares: attack, normal_shares: normal, source, in_place_share: share } = answer
  const open = suggestions.filter(({ rule_id }) => rule_id === null)
  return (
    <>
      <ul className={classes['suggested']}>
        {open.map(({ rule, attack_shares, normal_shares }) => (
          <li key={ruleText(contentOf(rule))}>
            <span className={classes['match']}>{ruleText(contentOf(rule))}</span>
            {source === 'flows' && (
              <>
                <span className={classes['small']}>{texts.shares(sharesText(attack_shares))}</span>
                <span className={classes['small']}>
                  {texts.usual(knownShares(normal_shares), rule.action === 'rate_limit')}
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
      <Covered share={share} />
      {open.length > 1 && attack.bytes !== null && (
        <Text size="sm">
          {texts.together(shareText(attack[answer.measure]), knownShare(largestShare(normal)))}
        </Text>
      )}
      <Warnings warnings={answer.warnings} />
      {source === 'flows' && (
        <>
          <Text size="xs" c="dimmed">
            {texts.comparedWith[answer.usual]}
          </Text>
          <Delay answer={answer.what_if} />
        </>
      )}
      {source === 'event' && (
        <Text size="xs" c="dimmed">
          {texts.fromEvent}
        </Text>
      )}
      {open.length > 0 &&
        (canChange ? (
          <Button data-action="preview-rules" mt="xs" onClick={() => setOpen(true)}>
            {open.length === 1 ? texts.preview : texts.previewAll}
          </Button>
        ) : (
          <Text size="xs" c="dimmed">
            {onlyWith('shield.apply')}
          </Text>
        ))}
      {isOpen && <ReviewSuggested answer={answer} prefix={prefix} onClose={() => setOpen(false)} />}
    </>
  )
}

const knownShares = (shares: Shares): string | undefined =>
  largestShare(shares) === null ? undefined : sharesText(shares)
const knownShare = (share: number | null): string | undefined =>
  share === null ? undefined : shareText(share)

function hitsText({ hits }: ShieldRule): string {
  if (hits === null || hits === undefined) return words.editor.hitsUnknown
  return hits.packets === 0
    ? texts.matchedNone
    : texts.matched(formatRate(hits.packets, 'packets'), formatRate(hits.bytes, 'B'))
}

/** The enabled rules of lists that overlap the network. */
const useRulesAround = (network: string) =>
  useAnswer(
    listShieldRulesRoute,
    { query: { prefix: [network], enabled: true, include: 'hits', limit: rulesMax } },
    { refetchInterval: 5_000 },
  )

type ReviewSuggestedProps = {
  readonly answer: ShieldSuggestions
  readonly prefix: string
  readonly onClose: () => void
}

/** The plan is made against the currently applied rules. */
function ReviewSuggested({ answer, prefix, onClose }: ReviewSuggestedProps) {
  const { rules } = useRules(prefix)
  const before = useMemo(() => rules?.map((rule) => draftOf(rule, String(rule.id))), [rules === undefined])
  const after = useMemo(() => before && matched(before, answer), [before, answer])
  if (!before || !after) return null
  return (
    <Review
      prefix={prefix}
      version={answer.version}
      before={before}
      after={after}
      attackShare={answer.attack_share}
      onClose={onClose}
      onApplied={onClose}
    />
  )
}

/** A rule with the same content as an applied rule is that rule. */
function matched(before: readonly DraftRule[], { rules }: ShieldSuggestions): readonly DraftRule[] {
  const free = [...before]
  return rules.map((rule, at) => {
    const same = free.findIndex((one) => isSame(one, contentOf(rule)))
    return draftOf(rule, same < 0 ? `suggested-${at}` : free.splice(same, 1)[0]!.key)
  })
}

/** False for a rule of another single address: it cannot match the target. */
const mayMatch = (destination: string | null, network: string): boolean => {
  const hostOf = (text: string) => text.replace(/\/(32|128)$/, '')
  return (
    destination === null ||
    hostOf(destination).includes('/') ||
    hostOf(destination) === hostOf(network) ||
    hostOf(network).includes('/')
  )
}

type RulesInPlaceProps = {
  readonly network: string
  readonly frame: (content: ReactNode) => ReactNode
}

/** Rules for the target that drop or limit, with their counters. Renders only if there are any. */
export function RulesInPlace({ network, frame }: RulesInPlaceProps) {
  const canChange = useGrant('shield.apply')
  const answer = useRulesAround(network)
  const lists = useAnswer(
    listShieldListsRoute,
    { query: { prefix: [network], limit: rulesMax } },
    { refetchInterval: 5_000 },
  )
  const rules = (answer.data?.results ?? []).filter(
    ({ action, status, destination }) =>
      action !== 'allow' && status !== 'expired' && mayMatch(destination, network),
  )
  const rates = useHitRates(rules, answer.dataUpdatedAt)
  if (answer.error && !answer.data)
    return frame(<Problem error={answer.error} retry={() => answer.refetch()} />)
  if (rules.length === 0) return null
  const unconfirmed = new Set(
    (lists.data?.results ?? []).flatMap(({ prefix, confirm_by: by }) => (by === null ? [] : [prefix])),
  )
  return frame(
    <ul className={classes['suggested']}>
      {rules.map((rule) => {
        const { id, prefix, status } = rule
        const rate = rates.get(String(id))
        return (
          <li key={id} data-rule={id}>
            <span className={classes['match']}>{ruleText(contentOf(rule))}</span>
            <span className={classes['small']}>
              {[
                words.states.rule[status],
                ...(unconfirmed.has(prefix) ? [texts.unconfirmed] : []),
                hitsText(rule),
                ...(rate !== undefined ? [words.editor.perSecond(formatRate(rate, 'pps'))] : []),
              ].join(' · ')}
            </span>
          </li>
        )
      })}
      <li>
        <ButtonLink size="xs" variant="default" to="/shield/rules" search={{ prefix: rules[0]!.prefix }}>
          {canChange ? texts.edit : texts.show}
        </ButtonLink>
      </li>
    </ul>,
  )
}
