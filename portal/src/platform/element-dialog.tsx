// Creates, edits or deletes one element: its fields, then the plan that the server made of them, then the change. A plan that was shown is
// the one that is applied, as far as deletions need approval.
import { Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  changePlatformRoute,
  type PlatformElement,
  type PlatformKind,
  type PlatformPlan,
} from '@pharos/contract/operator/platform'
import { useMutation } from '@tanstack/react-query'
import { useMemo, useState, type ReactNode } from 'react'
import { useMayAsStaff } from '../api/use-grant.ts'
import { useUnsaved } from '../api/unsaved.ts'
import { DiscardQuestion } from '../ui/discard-question.tsx'
import { Field, FormProblem, useRequestForm, type RequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { words as uiWords } from '../ui/words.ts'
import { declarationsOf } from './element-fields.tsx'
import { FormValues } from './form-values.ts'
import { fieldsOf, valuesOf, type ElementFields } from './element-form.ts'
import type { Changes } from './form-change.ts'
import { applyChanges, planChanges } from './plan-request.ts'
import { PlanView } from './plan-view.tsx'
import { kindText, words } from './words.ts'

type Planned = { readonly changes: Changes; readonly plan: PlatformPlan }

type ElementDialogProps = {
  readonly kind: PlatformKind
  readonly kinds: readonly PlatformKind[]
  /** The element to edit; without one, a new one is created. */
  readonly element?: PlatformElement
  readonly trigger: (open: () => void) => ReactNode
  readonly onApplied?: () => void
}

export const ElementDialog = (props: ElementDialogProps) =>
  useMayAsStaff(changePlatformRoute.permission) ? <OfferedDialog {...props} /> : null

/** The form of the element: its request is the plan. */
function useElementForm({ kind, kinds, element }: ElementDialogProps, onPlanned: (planned: Planned) => void) {
  const declared = useMemo(
    () => declarationsOf(kind, element?.secrets ?? [], kinds),
    [kind, kinds, element?.secrets],
  )
  return useRequestForm<ElementFields, Planned>({
    initialValues: fieldsOf(kind, element),
    declared,
    async request(fields) {
      const { section } = kind
      const values = valuesOf(kind, fields, element)
      const changes: Changes = [
        element
          ? { action: 'update', section, key: element.key, values, if_match: element.etag }
          : { action: 'create', section, values },
      ]
      return { changes, plan: await planChanges(changes) }
    },
    onSuccess: onPlanned,
  })
}

function OfferedDialog(props: ElementDialogProps) {
  const { kind, element, trigger, onApplied } = props
  const [opened, { open, close }] = useDisclosure(false)
  const [isAsking, setAsking] = useState(false)
  const [planned, setPlanned] = useState<Planned>()
  const form = useElementForm(props, setPlanned)
  useUnsaved(() => opened && form.isUnsaved())
  const { one } = kindText(kind.section)
  function start() {
    setPlanned(undefined)
    form.restart(fieldsOf(kind, element))
    open()
  }
  function shut() {
    setAsking(false)
    close()
    // Secrets do not stay in memory.
    form.restart(fieldsOf(kind, element))
  }
  function finish() {
    shut()
    onApplied?.()
  }
  return (
    <>
      {trigger(start)}
      <Modal
        opened={opened}
        onClose={() => (form.isUnsaved() ? setAsking(true) : shut())}
        title={element ? words.editOne(one, element.key) : words.create(one)}
        size="lg"
        closeOnClickOutside={!form.isUnsaved()}
      >
        {planned ? (
          <PlanStep
            planned={planned}
            back={<BackButton onClick={() => setPlanned(undefined)} />}
            onApplied={finish}
          />
        ) : (
          <ElementForm kind={kind} isNew={element === undefined} form={form} onCancel={shut} />
        )}
      </Modal>
      <DiscardQuestion
        opened={opened && isAsking}
        text={uiWords.discard.ofDialog}
        onKeep={() => setAsking(false)}
        onDiscard={shut}
      />
    </>
  )
}

type ElementFormProps = {
  readonly kind: PlatformKind
  readonly isNew: boolean
  readonly form: RequestForm<ElementFields, Planned>
  readonly onCancel: () => void
}

/** The fields of the kind in their order; the key cannot be changed. */
const ElementForm = ({ kind, isNew, form, onCancel }: ElementFormProps) => (
  <FormValues.Provider value={form.fields.values}>
    <form onSubmit={form.submit} noValidate>
      <Stack>
        {kind.fields.map(({ name, is_identity: isIdentity }, at) => (
          <Field
            key={name}
            form={form}
            name={name}
            autoFocus={at === 0 && isNew}
            readOnly={isIdentity && !isNew}
          />
        ))}
        <FormProblem form={form} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {uiWords.cancel}
          </Button>
          <SubmitButton form={form}>{words.review}</SubmitButton>
        </Group>
      </Stack>
    </form>
  </FormValues.Provider>
)

const BackButton = ({ onClick }: { onClick: () => void }) => (
  <Button variant="default" onClick={onClick}>
    {words.change}
  </Button>
)

type PlanStepProps = {
  readonly planned: Planned
  readonly back: ReactNode
  readonly color?: string
  readonly onApplied: () => void
}

/** The plan and its button. */
export function PlanStep({ planned: { changes, plan }, back, color, onApplied }: PlanStepProps) {
  const [isConfirmed, setConfirmed] = useState(false)
  const apply = useMutation({
    mutationFn: () => applyChanges(changes, plan),
    onSuccess() {
      notifySuccess(words.applied)
      onApplied()
    },
  })
  const isReady = plan.changes.length > 0 && (plan.held.length === 0 || isConfirmed)
  return (
    <Stack>
      <PlanView plan={plan} isConfirmed={isConfirmed} onConfirm={setConfirmed} />
      {apply.error && <Problem error={apply.error} />}
      <Group justify="flex-end">
        {back}
        <Button
          disabled={!isReady}
          loading={apply.isPending}
          onClick={() => apply.mutate()}
          data-autofocus
          {...(color === undefined ? {} : { color })}
        >
          {words.apply}
        </Button>
      </Group>
    </Stack>
  )
}

type DeleteProps = {
  readonly section: string
  readonly element: PlatformElement
  readonly trigger: (open: () => void) => ReactNode
  readonly onApplied?: () => void
}

export const DeleteElement = (props: DeleteProps) =>
  useMayAsStaff(changePlatformRoute.permission) ? <OfferedDelete {...props} /> : null

function OfferedDelete({ section, element: { key, etag }, trigger, onApplied }: DeleteProps) {
  const [opened, { open, close }] = useDisclosure(false)
  const changes: Changes = [{ action: 'delete', section, key, if_match: etag }]
  const plan = useMutation({ mutationFn: () => planChanges(changes) })
  function start() {
    plan.mutate()
    open()
  }
  const cancel = (
    <Button variant="default" onClick={close}>
      {uiWords.cancel}
    </Button>
  )
  return (
    <>
      {trigger(start)}
      <Modal opened={opened} onClose={close} title={words.deleteOne(kindText(section).one, key)} size="lg">
        <Stack>
          <Text size="sm">{words.deleteText}</Text>
          {plan.isPending && <Skeleton height={60} />}
          {plan.error && <Problem error={plan.error} />}
          {plan.data ? (
            <PlanStep
              planned={{ changes, plan: plan.data }}
              back={cancel}
              color="bad"
              onApplied={() => {
                close()
                onApplied?.()
              }}
            />
          ) : (
            <Group justify="flex-end">{cancel}</Group>
          )}
        </Stack>
      </Modal>
    </>
  )
}
