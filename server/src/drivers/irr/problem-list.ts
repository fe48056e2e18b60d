// Problems with the objects of a source, for operators: each once, the last few of them.

export type ProblemList = {
  add(problem: string): void
  all(): readonly string[]
}

const problemsMax = 20

export function createProblemList(): ProblemList {
  const problems = new Set<string>()
  return {
    add(problem) {
      problems.delete(problem)
      problems.add(problem)
      if (problems.size > problemsMax) problems.delete(problems.values().next().value!)
    },
    all: () => [...problems],
  }
}
