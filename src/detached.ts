// Binds methods to their object, so that they work detached and through the Proxy of a dependency-injection container.

/** @param prototype of the class that binds: if a subclass overrides a method, its override is bound */
export function bindMethods(client: object, prototype: object): void {
  const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(prototype) as PropertyDescriptorMap;
  for (const name of Object.keys(methods)) {
    const value = Reflect.get(client, name).bind(client);
    Object.defineProperty(client, name, { value, writable: true, configurable: true });
  }
}
