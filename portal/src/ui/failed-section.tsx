// A section whose content could not be read.
import { Problem } from './problem.tsx'
import { Section } from './section.tsx'

type Props = {
  readonly title: string
  readonly answer: { readonly error: unknown; readonly refetch: () => unknown }
}

export const FailedSection = ({ title, answer }: Props) => (
  <Section title={title}>
    <Problem error={answer.error} retry={() => answer.refetch()} />
  </Section>
)
