// Two-factor authentication: set up with a QR code, turned off, its recovery codes generated again.
import { Alert, Button, Code, Group, Modal, Skeleton, Stack, Stepper, Text } from '@mantine/core'
import {
  confirmTotpRoute,
  createRecoveryCodesRoute,
  createTotpRoute,
  deleteTotpRoute,
  getSecondFactorRoute,
  type TotpEnrolment,
} from '@pharos/contract/session/second-factor'
import { listPasskeysRoute } from '@pharos/contract/session/passkey'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { encode } from 'uqr'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { text, password } from '../ui/form-text-widgets.tsx'
import { Field, useRequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { Time } from '../ui/time.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import { RecoveryCodes } from './recovery-codes.tsx'
import { words } from './words.ts'
import { StatePill } from '../ui/status.tsx'

const { factor: t } = words

const startFields = {
  current_password: password({ label: words.currentPassword, autoComplete: 'current-password' }),
}
const codeFields = {
  otp: text({
    label: words.sixDigits,
    autoComplete: 'one-time-code',
    inputMode: 'numeric',
    required: true,
    check: (value: string) => (/^\s*[0-9]{6}\s*$/.test(value) ? undefined : words.needsSixDigits),
  }),
}
const proofFields = {
  ...startFields,
  otp: text({ label: words.code, autoComplete: 'one-time-code' }),
}

/** From this many codes on, new ones are recommended. */
const fewCodes = 3

type FactorProps = {
  /** Called when the dialog of the setup opens and closes; it shows the recovery codes after the factor is on. */
  readonly onSetUp?: (isOpen: boolean) => void
}

/** The state of the second factor, and what can be done about it: the content of a section. */
export function SecondFactor({ onSetUp }: FactorProps) {
  const answer = useAnswer(getSecondFactorRoute, {})
  const passkeys = useAllRows(listPasskeysRoute, {})
  const { enabled, recovery_codes_left: codesLeft } = answer.data ?? {}
  const hasPasskeys = (passkeys.data?.length ?? 0) > 0
  const isOn = typeof enabled === 'string'
  return (
    <Stack gap="xs">
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={40} />}
      {enabled === null && <Text size="sm">{hasPasskeys ? t.passkeysText : t.offText}</Text>}
      {codesLeft !== undefined && (isOn || hasPasskeys) && (
        <>
          <Group gap="xs">
            {isOn && <StatePill color="ok">{t.on}</StatePill>}
            <Text size="sm">
              {isOn && (
                <>
                  {t.since} <Time at={enabled} /> ·{' '}
                </>
              )}
              {t.codesLeft(codesLeft)}
            </Text>
          </Group>
          {codesLeft <= fewCodes && <Alert color="warn">{t.fewCodes}</Alert>}
        </>
      )}
      {/* The dialogs stay when the state is read again: they show codes once. */}
      <Group>
        <SetUp isOffered={enabled === null} {...(onSetUp ? { onSetUp } : {})} />
        <NewCodes isOffered={isOn || hasPasskeys} needsCode={isOn} />
        {isOn && <TurnOff hasPasskeys={hasPasskeys} />}
      </Group>
    </Stack>
  )
}

/** Three steps of one dialog: the password, the first code, the recovery codes. */
function SetUp({ isOffered, onSetUp }: FactorProps & { readonly isOffered: boolean }) {
  const [opened, { open, close }] = useDisclosure(false, {
    onOpen: () => onSetUp?.(true),
    onClose: () => onSetUp?.(false),
  })
  const start = useRequestForm({
    initialValues: { current_password: '' },
    route: createTotpRoute,
    declared: startFields,
    request: async (body) => (await call(createTotpRoute, { body })).body,
  })
  const confirm = useRequestForm({
    initialValues: { otp: '' },
    declared: codeFields,
    request: ({ otp }) => session.replace(confirmTotpRoute, { otp: otp.trim() }),
  })
  const step = confirm.result ? 2 : start.result ? 1 : 0
  const form = step === 0 ? start : confirm
  function shut() {
    close()
    if (confirm.result) void invalidate(getSecondFactorRoute)
    start.restart({ current_password: '' })
    confirm.restart({ otp: '' })
  }
  return (
    <>
      {isOffered && <Button onClick={open}>{t.setUp}</Button>}
      <Modal opened={opened} onClose={shut} title={t.setUpTitle} size="lg" closeOnClickOutside={step === 0}>
        <form onSubmit={form.submit} noValidate>
          <Stack>
            <Stepper active={step} size="xs">
              <Stepper.Step label={t.steps.password} />
              <Stepper.Step label={t.steps.app} />
              <Stepper.Step label={t.steps.codes} />
            </Stepper>
            {step === 0 && <Field form={start} name="current_password" autoFocus />}
            {step === 1 && (
              <Scan enrolment={start.result!}>
                <Field form={confirm} name="otp" autoFocus />
              </Scan>
            )}
            {step === 2 && <Codes codes={confirm.result!.recovery_codes} />}
            {form.problem !== undefined && <Problem error={form.problem} />}
            <Group justify="flex-end">
              {step === 2 ? (
                <Button onClick={shut}>{t.savedCodes}</Button>
              ) : (
                <SubmitButton form={form}>{step === 0 ? t.next : t.turnOn}</SubmitButton>
              )}
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

type ScanProps = { readonly enrolment: TotpEnrolment; readonly children: ReactNode }

function Scan({ enrolment: { uri, secret }, children }: ScanProps) {
  return (
    <>
      <Text size="sm">{t.scan}</Text>
      <QrCode text={uri} />
      <Group gap="xs">
        <Code>{secret}</Code>
        <CopyIcon text={secret} label={t.copyKey} />
      </Group>
      {children}
    </>
  )
}

export const Codes = ({ codes }: { readonly codes: readonly string[] }) => (
  <RecoveryCodes codes={codes} note={t.storeCodes} fileText={t.fileText} />
)

/** ISO/IEC 18004, drawn as one path, on white in the dark theme too: scanners need the contrast. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={200}
      height={200}
      role="img"
      aria-label={t.qr}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

type Proof = { current_password: string; otp: string }
const noProof: Proof = { current_password: '', otp: '' }
const trimmed = ({ current_password, otp }: Proof): Proof => ({ current_password, otp: otp.trim() })

const TurnOff = ({ hasPasskeys }: { readonly hasPasskeys: boolean }) => (
  <Dialog
    title={t.offTitle}
    action={t.turnOff}
    danger
    route={deleteTotpRoute}
    declared={proofFields}
    intro={<Text size="sm">{hasPasskeys ? t.offEffectWithPasskeys : t.offEffect}</Text>}
    initialValues={noProof}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {t.turnOff}
      </Button>
    )}
    onSubmit={async (proof) => {
      await session.replace(deleteTotpRoute, trimmed(proof))
      await invalidate(getSecondFactorRoute)
      notifySuccess(t.isOff)
    }}
  />
)

/** An account with passkeys only needs no code: a passkey opened its session. */
const NewCodes = ({ isOffered, needsCode }: { readonly isOffered: boolean; readonly needsCode: boolean }) => (
  <Dialog
    title={t.newCodes}
    action={t.generate}
    route={createRecoveryCodesRoute}
    declared={needsCode ? proofFields : startFields}
    initialValues={noProof}
    trigger={(open) =>
      isOffered && (
        <Button variant="default" onClick={open}>
          {t.newCodes}
        </Button>
      )
    }
    onClose={() => void invalidate(getSecondFactorRoute)}
    onSubmit={({ current_password, otp }) =>
      session.replace(
        createRecoveryCodesRoute,
        needsCode ? trimmed({ current_password, otp }) : { current_password },
      )
    }
    result={({ recovery_codes: codes }) => <Codes codes={codes} />}
  />
)
