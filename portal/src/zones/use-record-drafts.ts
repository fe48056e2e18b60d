// The changes of a zone's record sets while they are edited: a row is checked when it is left, review shows the plan of the server,
// apply sends exactly that, undo rolls the new version back.
import { ProblemError } from '@pharos/contract/client'
import { changeRecordSetsRoute, type RecordSet, type ZoneChanges } from '@pharos/contract/dns/recordset'
import { recordSetsAtOnce } from '@pharos/contract/dns/term'
import { rollBackZoneRoute } from '@pharos/contract/dns/version'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { call, resultOf } from '../api/call.ts'
import { errorSentence } from '../ui/form-errors.ts'
import type { FieldBreach } from '../ui/form-rules.ts'
import { isPreconditionFailed } from '../ui/newer-version.tsx'
import { notifyFailure, notifySuccess } from '../ui/notify.ts'
import { isForPeople } from '../ui/person-text.ts'
import { changeCount } from './plan.tsx'
import {
  changedDrafts,
  draftOf,
  isBlank,
  isChanged,
  mistakesIn,
  newDraft,
  placeRowErrors,
  requestOf,
  type Draft,
  type Drafts,
  type RowErrors,
  type RowFieldErrors,
} from './record-drafts.ts'
import { words } from './words.ts'
import { invalidateZones, readZoneMark } from './zone-queries.ts'

const { records: texts } = words

type Reviewed = { readonly plan: ZoneChanges; readonly etag: string; readonly before: number }
type Applied = {
  readonly version: number
  readonly before: number
  readonly count: number
  readonly etag: string
}

const noErrors: RowErrors = new Map()
/** A message that names the part of the value needs no other subject: `preference: not a number`. */
const sentence = (error: FieldBreach) =>
  /^[a-z][a-z ]*: /.test(error.msg) && isForPeople(error.msg)
    ? `${error.msg[0]!.toUpperCase()}${error.msg.slice(1)}${/[.!?]$/.test(error.msg) ? '' : '.'}`
    : errorSentence(undefined, error)

/** Moves the focus to the first field with an error, once it is rendered. */
function focusFirstMistake(): void {
  setTimeout(
    () => document.querySelector<HTMLElement>('[data-records] [aria-invalid=true]')?.focus(),
    focusAfterMs,
  )
}
/** A dialog that closes gives the focus back first. */
const focusAfterMs = 300

/** Keeps mistakes of the other rows. */
function withoutMistakes(drafts: Drafts): Drafts {
  const mistakes = mistakesIn(drafts)
  return new Map([...drafts].filter(([key]) => !mistakes.has(key)))
}

function withErrors(errors: RowErrors, key: string, found: RowFieldErrors): RowErrors {
  const others = [...errors].filter(([one]) => one !== key)
  return new Map(Object.keys(found).length === 0 ? others : [...others, [key, found]])
}

/** The drafts by the key of their row, which rows are open, and the errors in them. `onChange` is called with each change of a draft. */
function useDraftRows(onChange: () => void) {
  const [drafts, setDrafts] = useState<Drafts>(new Map())
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [errors, setErrors] = useState(noErrors)
  const nextKey = useRef(1)

  const put = (draft: Draft) => {
    setDrafts((now) => new Map(now).set(draft.key, draft))
    setErrors((now) => (now.has(draft.key) ? new Map([...now].filter(([key]) => key !== draft.key)) : now))
    onChange()
  }
  const setIsOpen = (key: string, isOpen: boolean) =>
    setOpen((now) => new Set(isOpen ? [...now, key] : [...now].filter((one) => one !== key)))
  const drop = (key: string) => {
    setDrafts((now) => new Map([...now].filter(([one]) => one !== key)))
    setErrors((now) => new Map([...now].filter(([one]) => one !== key)))
    setIsOpen(key, false)
  }

  return {
    drafts,
    errors,
    setErrors,
    put,
    drop,
    setIsOpen,
    isOpen: (key: string) => open.has(key),
    openAll: (keys: Iterable<string>) => setOpen((now) => new Set([...now, ...keys])),
    clear() {
      setDrafts(new Map())
      setOpen(new Set())
      setErrors(noErrors)
    },
    add(start: Partial<Draft> = {}) {
      const draft = { ...newDraft(`new ${nextKey.current++}`), ...start }
      put(draft)
      setIsOpen(draft.key, true)
    },
    edit(set: RecordSet) {
      if (!drafts.has(set.id)) put(draftOf(set))
      setIsOpen(set.id, true)
    },
    /** Replaces the draft by the set as it is now. */
    restart: (set: RecordSet) => put(draftOf(set)),
    setTtl(sets: readonly RecordSet[], ttl: string) {
      for (const set of sets) put({ ...(drafts.get(set.id) ?? draftOf(set)), isRemoved: false, ttl })
    },
    remove(sets: readonly RecordSet[]) {
      for (const set of sets) {
        put({ ...draftOf(set), isRemoved: true })
        setIsOpen(set.id, false)
      }
    },
  }
}
type DraftRows = ReturnType<typeof useDraftRows>

/** Checks a row of its own, with the other rows as they are. */
function useRowCheck(zone: string, { drafts, setErrors }: DraftRows) {
  const latest = useRef(drafts)
  latest.current = drafts
  return useMutation({
    mutationFn: async ({ key, drafts: checked }: { key: string; drafts: Drafts }) => {
      const { recordsets, keys } = requestOf(withoutMistakes(checked))
      if (!keys.includes(key)) return {}
      try {
        await call(changeRecordSetsRoute, {
          params: { zone },
          body: { recordsets },
          query: { dry_run: true } as object,
        })
        return {}
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error
        return placeRowErrors(error.problem.errors ?? [], keys, sentence).placed.get(key) ?? {}
      }
    },
    // An answer that comes late is about a row that was changed since; what else fails is told by the review.
    onSuccess: (found, { key, drafts: checked }) => {
      if (latest.current.get(key) === checked.get(key)) setErrors((now) => withErrors(now, key, found))
    },
  })
}

type PlanOptions = {
  readonly rows: DraftRows
  readonly setProblem: (problem: unknown) => void
  readonly onApplied: (applied: Applied) => void
}

/** Requests the plan of the drafts, and applies exactly that. */
function usePlan(zone: string, { rows, setProblem, onApplied }: PlanOptions) {
  const { drafts, setErrors } = rows
  const [reviewed, setReviewed] = useState<Reviewed>()
  const params = { zone }

  /** Places what belongs to a row there; everything else is the problem above the table. */
  function fail(error: unknown, keys: readonly string[]) {
    const found = error instanceof ProblemError ? (error.problem.errors ?? []) : []
    const { placed, rest } = placeRowErrors(found, keys, sentence)
    setErrors(placed)
    rows.openAll(placed.keys())
    focusFirstMistake()
    setProblem(placed.size > 0 && rest.length === 0 ? undefined : error)
    setReviewed(undefined)
  }

  const review = useMutation({
    mutationFn: async () => {
      const { etag, version } = await readZoneMark(zone)
      const answer = await call(changeRecordSetsRoute, {
        params,
        body: { recordsets: requestOf(drafts).recordsets },
        query: { dry_run: true } as object,
        headers: { 'if-match': etag },
      })
      return { plan: resultOf<ZoneChanges>(answer.body), etag, before: version }
    },
    onMutate: () => setProblem(undefined),
    onSuccess: (plan) => {
      setErrors(noErrors)
      setReviewed(plan)
    },
    onError: (error) => fail(error, requestOf(drafts).keys),
  })
  const apply = useMutation({
    mutationFn: async ({ etag, before }: Reviewed) => {
      const { body, headers } = await call(changeRecordSetsRoute, {
        params,
        body: { recordsets: requestOf(drafts).recordsets },
        headers: { 'if-match': etag },
      })
      return { body, before, etag: headers.get('etag') ?? '' }
    },
    onSuccess: async ({ body, before, etag }) => {
      setReviewed(undefined)
      rows.clear()
      setProblem(undefined)
      onApplied({ version: body.version, before, count: changeCount(body), etag })
      await invalidateZones()
    },
    onError: (error) => fail(error, requestOf(drafts).keys),
  })

  return { reviewed, review, apply, close: () => setReviewed(undefined) }
}

type UndoOptions = Pick<PlanOptions, 'setProblem'> & { readonly onEnd: () => void }

/** Rolls the zone back to the version before the applied one. */
function useUndo(zone: string, { setProblem, onEnd }: UndoOptions) {
  return useMutation({
    // The version that was applied must be the newest, because undo must not revert a later change.
    mutationFn: ({ before, etag }: Applied) =>
      call(rollBackZoneRoute, { params: { zone, version: before }, headers: { 'if-match': etag } }),
    onSuccess: async (_answer, { before }) => {
      onEnd()
      notifySuccess(texts.undone(words.version(before)))
      await invalidateZones()
    },
    onError: async (error) => {
      if (!isPreconditionFailed(error)) return setProblem(error)
      onEnd()
      notifyFailure(texts.notUndone)
      await invalidateZones()
    },
  })
}

export function useRecordDrafts(zone: string) {
  const [problem, setProblem] = useState<unknown>()
  const [applied, setApplied] = useState<Applied>()
  const dismiss = () => setApplied(undefined)
  const rows = useDraftRows(dismiss)
  const { setErrors, openAll, clear, ...edits } = rows
  const { drafts } = rows
  const plan = usePlan(zone, { rows, setProblem, onApplied: setApplied })
  const undo = useUndo(zone, { setProblem, onEnd: dismiss })
  const check = useRowCheck(zone, rows)
  return {
    ...edits,
    changed: changedDrafts(drafts).length,
    problem,
    reviewed: plan.reviewed,
    applied,
    isReviewing: plan.review.isPending,
    isApplying: plan.apply.isPending,
    isUndoing: undo.isPending,
    discard() {
      clear()
      setProblem(undefined)
    },
    /** The row lost focus: shows its mistakes in place. */
    leave(key: string) {
      const draft = drafts.get(key)
      if (draft === undefined || draft.isRemoved || !isChanged(draft) || isBlank(draft)) return
      const mistakes = mistakesIn(drafts).get(key)
      if (mistakes) setErrors((now) => withErrors(now, key, mistakes))
      else check.mutate({ key, drafts })
    },
    review() {
      const mistakes = mistakesIn(drafts)
      setErrors(mistakes)
      if (mistakes.size === 0 && requestOf(drafts).keys.length > recordSetsAtOnce)
        notifyFailure(texts.tooMany(recordSetsAtOnce))
      else if (mistakes.size === 0) plan.review.mutate()
      else {
        openAll(mistakes.keys())
        focusFirstMistake()
      }
    },
    apply: () => plan.reviewed && plan.apply.mutate(plan.reviewed),
    closeReview: plan.close,
    undo: () => applied && undo.mutate(applied),
    dismiss,
  }
}
export type RecordDrafts = ReturnType<typeof useRecordDrafts>
