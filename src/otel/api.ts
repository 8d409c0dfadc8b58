// The parts of OpenTelemetry's API that the SDK uses, by shape: the merchant passes their own copy, of any version.

/** The part of `@opentelemetry/api` that the SDK uses. Pass the module itself. */
export interface OpenTelemetry {
  readonly trace: {
    getTracer(name: string, version?: string): Tracer;
    setSpan(context: never, span: never): unknown;
  };
  readonly context: {
    active(): unknown;
    with(context: never, work: () => unknown): unknown;
  };
  readonly metrics: { getMeter(name: string, version?: string): Meter };
}

export type Attributes = Record<string, string | number | boolean>;

export interface Tracer {
  startSpan(name: string, options?: { kind?: number; attributes?: Attributes }): Span;
}

export interface Span {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

export interface Meter {
  createHistogram(
    name: string,
    options?: Description & { advice?: { explicitBucketBoundaries?: number[] } },
  ): Histogram;
  createCounter(name: string, options?: Description): Counter;
  createObservableGauge(name: string, options?: Description): Gauge;
}

export interface Description {
  description?: string;
  unit?: string;
}

export interface Histogram {
  record(value: number, attributes?: Attributes): void;
}

export interface Counter {
  add(value: number, attributes?: Attributes): void;
}

export interface Gauge {
  addCallback(observe: Observe): void;
  removeCallback(observe: Observe): void;
}

export type Observe = (result: { observe(value: number): void }) => Promise<void>;

/** Numbers of OpenTelemetry's specification, the same in all versions. */
export const INTERNAL = 0;
export const CLIENT = 2;
export const ERROR = 2;
