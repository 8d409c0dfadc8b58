// OpenTelemetry's API by shape: the merchant passes their own copy, of any version.

export type Attributes = Record<string, string | number | boolean>;

/** The part of `@opentelemetry/api` that the SDK uses. Pass the module itself. */
export interface OpenTelemetry {
  readonly trace: { getTracer(name: string, version?: string): Tracer; setSpan(context: never, span: never): unknown };
  readonly context: { active(): unknown; with(context: never, work: () => unknown): unknown };
  readonly metrics: { getMeter(name: string, version?: string): Meter };
}

type Tracer = { startSpan(name: string, options?: { kind?: number; attributes?: Attributes }): Span };

export interface Span {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

export interface Meter {
  createHistogram(name: string, options?: About): { record(value: number, attributes?: Attributes): void };
  createObservableGauge(name: string, options?: About): Gauge;
}

type About = { description?: string; unit?: string; advice?: { explicitBucketBoundaries?: number[] } };

export type Gauge = { addCallback(observe: Observe): void; removeCallback(observe: Observe): void };

export type Observe = (result: { observe(value: number): void }) => Promise<void>;
