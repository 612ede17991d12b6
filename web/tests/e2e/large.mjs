export const largePackage = () => {};
