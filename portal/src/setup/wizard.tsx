// The setup of a new installation in four steps, each of which can be skipped: the provider, a router, a detector, a device. What a step
// creates is an element of the platform, with the checks of its page.
import { getSetupProgressRoute, type SetupProgress } from '@pharos/contract/operator/setup'
import { useAnswer } from '../api/queries.ts'
import { Page } from '../ui/page.tsx'
import { StepList } from '../ui/step-list.tsx'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { textOf, usePageSearch } from '../ui/use-page-search.ts'
import { DetectorStep } from './detector-step.tsx'
import { DeviceStep } from './device-step.tsx'
import { Finished } from './left.tsx'
import { ProviderStep } from './provider-step.tsx'
import { RouterStep } from './router-step.tsx'
import { Answered } from './step-parts.tsx'
import { words } from './words.ts'

const components = {
  provider: ProviderStep,
  region: RouterStep,
  detector: DetectorStep,
  device: DeviceStep,
} as const
type StepName = keyof typeof components
const names = Object.keys(components) as StepName[]

export function Setup() {
  const isPhone = useIsPhone()
  const progress = useAnswer(getSetupProgressRoute, {})
  const { search, setSearch } = usePageSearch('/staff/setup')
  const named = textOf(search.step)
  const at = named === 'finished' ? names.length : Math.max(0, names.indexOf(named as StepName))
  const name = names[at]
  const Step = name && components[name]
  const open = (index: number) => setSearch({ step: names[index] ?? 'finished' })
  return (
    <Page title={words.title} note={words.note}>
      <StepList label={words.stepList} steps={stepsOf(progress.data, at, isPhone)} />
      <Answered answer={progress}>
        {(found) =>
          Step ? (
            <Step key={name} onNext={() => open(at + 1)} onBack={at > 0 ? () => open(at - 1) : undefined} />
          ) : (
            <Finished progress={found} />
          )
        }
      </Answered>
    </Page>
  )
}

/** On a phone only the current step has a text: the form is below them. */
const stepsOf = (progress: SetupProgress | undefined, current: number, isPhone: boolean) =>
  names.map((step, at) => {
    const isDone = progress?.steps.some((one) => one.step === step && one.done) ?? false
    const state = at === current ? ('now' as const) : isDone ? ('done' as const) : ('next' as const)
    const { name, text } = words.steps[step]
    return { name, text: isPhone && at !== current ? '' : text, state }
  })
