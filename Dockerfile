# The sandbox in a container, from the tarball that `npm pack` makes: the package is not published.
# `npm run docker` packs, builds and starts it.
FROM node:24-slim
COPY payment-gateway-sdk-*.tgz /tmp/
RUN npm install --global --omit=dev /tmp/payment-gateway-sdk-*.tgz && rm /tmp/payment-gateway-sdk-*.tgz
USER node
EXPOSE 4010
ENTRYPOINT ["payment-gateway-sandbox", "serve", "--host", "0.0.0.0"]
# Other containers call it by its name. Callbacks to them need --forward-to http://<app>:<port>/<path>.
CMD ["--allow-host", "sandbox"]
