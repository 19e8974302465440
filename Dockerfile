# Treeplex with its web page and compiled kernels:
#   docker build -t treeplex . && docker run --rm -p 8000:8000 -v "$PWD:/work" treeplex
FROM python:3.13-slim
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir -c constraints.txt ".[web,poker]" && treeplex kernels warm && rm -rf /source
WORKDIR /work
EXPOSE 8000
ENTRYPOINT ["treeplex"]
CMD ["web", "--host", "0.0.0.0", "--port", "8000", "--no-browser"]
