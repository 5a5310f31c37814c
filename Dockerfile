# cotrace with everything: docker build -t cotrace . && docker run --rm --user "$(id -u)" -v "$PWD:/work" cotrace ingest logs/
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[judge,optimize,dash,inspect]" && rm -r /wheels
RUN useradd --create-home researcher && install --directory --owner=researcher /work
USER researcher
WORKDIR /work
EXPOSE 8050
ENTRYPOINT ["cotrace"]
CMD ["--help"]
