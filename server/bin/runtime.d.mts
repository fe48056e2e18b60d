export declare const nodeMajorMin: number
export declare const heap: readonly string[]
